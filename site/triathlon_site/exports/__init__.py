"""What the site writes for others to compute with or to show: data files, tables for papers, badges."""

from triathlon_site.exports._files import (
    badge_of,
    core_file,
    csv_file,
    data_files,
    latex_table,
    published_files,
    section_path,
    table_files,
)
from triathlon_site.exports._frames import (
    DATA_SCHEMA,
    FIELDS,
    imported_records,
    noise_records,
    records,
    score_frame,
)
