"""Rendering: templates, formats of numbers, and the parts that pages are made of."""

from triathlon_site.render import formats
from triathlon_site.render._page import (
    MISSING,
    Draft,
    Environment,
    Figure,
    Link,
    Page,
    Section,
    Value,
    as_script,
    find_templates,
    installed_environment,
    show_control_characters,
)
