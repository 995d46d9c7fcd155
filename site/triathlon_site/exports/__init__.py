"""What the site writes for others to compute with or to show: data files, tables for papers, badges."""

from triathlon_site.exports._embedded import Badge, badge_files, badges_of, latex_table
from triathlon_site.exports._files import (
    core_files,
    csv_file,
    data_files,
    published_files,
    section_path,
    table_files,
)
from triathlon_site.exports._frames import (
    Reported,
    ReportedScore,
    imported_records,
    noise_records,
    records,
    score_frame,
)
from triathlon_site.exports._schema import DATA_SCHEMA, DataFormat, data_formats
