"""Rendering: templates, formats of numbers, and the parts that pages are made of."""

from triathlon_site.render import formats
from triathlon_site.render._environment import (
    Environment,
    find_templates,
    installed_environment,
    show_control_characters,
)
from triathlon_site.render._page import (
    MISSING,
    Draft,
    Figure,
    Link,
    Page,
    Section,
    Value,
    as_script,
)
