"""`triathlon cache`: the replies that were paid for once."""

from typing import Annotated

import typer

from triathlon_runner.cache import cache_folder
from triathlon_runner.cli._app import examples, group_of_commands
from triathlon_runner.cli._names import complete_models
from triathlon_runner.errors import UserError
from triathlon_runner.llm import ReplyCache
from triathlon_runner.terminal import console, counted

cache_app = group_of_commands("cache", "The cache of replies.", "triathlon cache info")


@cache_app.command(epilog=examples("triathlon cache info"))
def info() -> None:
    """Where the cache lies, its size, and replies by model."""
    with ReplyCache(cache_folder() / "replies.sqlite") as replies:
        contents = replies.info()
    screen = console()
    size = f"{counted(contents.replies, 'reply')}, {contents.size_bytes / 1e6:.1f} MB"
    screen.print(f"{contents.path}: {size}", soft_wrap=True)
    for model, count in contents.replies_by_model.items():
        screen.print(f"{model:40} {count}")


@cache_app.command(
    epilog=examples(
        "triathlon cache prune --max-megabytes 500",
        "triathlon cache prune --model my-model",
    )
)
def prune(
    max_megabytes: Annotated[
        float | None, typer.Option(min=0, help="Removes the oldest replies down to this size.")
    ] = None,
    model: Annotated[
        str | None, typer.Option(help="Removes the replies of this model.", autocompletion=complete_models)
    ] = None,
) -> None:
    """Removes replies; results stay as they are, and what is asked again is asked anew."""
    if max_megabytes is None and model is None:
        raise UserError("expected --max-megabytes or --model, which say what is removed, got neither")
    with ReplyCache(cache_folder() / "replies.sqlite") as replies:
        max_bytes = None if max_megabytes is None else int(max_megabytes * 1e6)
        removed = replies.prune(max_bytes=max_bytes, model=model)
    console().print(f"{counted(removed, 'reply')} removed")
