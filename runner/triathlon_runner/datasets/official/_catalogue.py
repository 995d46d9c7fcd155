"""Every official data file that the project reads: where it is released, its SHA-256, its licence."""

from typing import Final, Literal, get_args

from triathlon_runner.datasets import DataFile

EvoEvalSet = Literal["difficult", "creative", "subtle", "combine", "tool_use", "verbose", "concise"]
EVOEVAL_SETS: Final[tuple[EvoEvalSet, ...]] = get_args(EvoEvalSet)

MbxpLanguage = Literal["python", "php", "ruby", "javascript", "perl"]
MBXP_LANGUAGES: Final[tuple[MbxpLanguage, ...]] = get_args(MbxpLanguage)

_GITHUB: Final = "https://github.com"
RAW: Final = "https://raw.githubusercontent.com"

HUMANEVAL: Final = DataFile(
    name="HumanEval.jsonl.gz",
    url=f"{RAW}/openai/human-eval/6d43fb9/data/HumanEval.jsonl.gz",
    sha256="b796127e635a67f93fb35c04f4cb03cf06f38c8072ee7cee8833d7bee06979ef",
    of="file",
    version="6d43fb9",
    licence="MIT",
)
HUMANEVAL_PLUS: Final = DataFile(
    name="HumanEvalPlus.jsonl.gz",
    # The tag v0.1.10 points at an older commit, its release asset is the file at this one.
    url=f"{RAW}/evalplus/humanevalplus_release/200defce9e3429d28ca215b6dd061c0f7f31c18b/HumanEvalPlus.jsonl.gz",
    sha256="272720b90ac375502c8ed23cd791c2a93dfb22a911641a494da74a426c09f101",
    of="file",
    version="v0.1.10",
    licence="Apache-2.0",
)
MBPP_PLUS: Final = DataFile(
    name="MbppPlus.jsonl.gz",
    url=f"{_GITHUB}/evalplus/mbppplus_release/releases/download/v0.2.0/MbppPlus.jsonl.gz",
    sha256="af43697e8791c4c149bdfd6b489d8b5412507551ac20e28a439f650b8225db63",
    of="file",
    version="v0.2.0",
    licence="Apache-2.0",
)
DREVAL_DATA: Final = DataFile(
    name="DREval_data.jsonl",
    url=f"{RAW}/r-eval/REval/2f148b9/data/DREval_data.jsonl",
    sha256="b8e72ef344cd575b220363e7a361e892ef2bdfcee1cab79f702d60e255844965",
    of="content",
    version="2f148b9",
    licence="none stated",
)
DREVAL_TASKS: Final = DataFile(
    name="DREval_tasks.jsonl",
    url=f"{RAW}/r-eval/REval/2f148b9/data/DREval_tasks.jsonl",
    sha256="a4fea071a4e3108ae00cc8a6a586505bff4237244b2dc8433b22303948fe7fa5",
    of="content",
    version="2f148b9",
    licence="none stated",
)
CLASSEVAL: Final = DataFile(
    name="ClassEval_data.json",
    url=f"{RAW}/FudanSELab/ClassEval/eaeac44/data/ClassEval_data.json",
    sha256="50a1ac0e4d0c238573c10c0ab11feae00b14a80ae9e4c9cc28148707ecf0b6a2",
    of="content",
    version="eaeac44",
    licence="MIT",
)

CRUXEVAL: Final = DataFile(
    name="cruxeval.jsonl",
    url=f"{RAW}/facebookresearch/cruxeval/190faf1/data/cruxeval.jsonl",
    sha256="8368b81047dc5014e4caf5a2f97604eff7644e0ecd7415e3ceeb184bbc2e0c96",
    of="content",
    version="190faf1",
    licence="MIT",
)
HUMANEVAL_PRO: Final = DataFile(
    name="humaneval_pro.json",
    url=f"{RAW}/CodeEval-Pro/CodeEval-Pro/36f292e/dataset/humaneval_pro.json",
    sha256="d67ad94366d8182804d8cb59de558d211072493b13a6c23ddda42a2e1367dc7a",
    of="content",
    version="36f292e",
    licence="MIT",
)
MBPP_PRO: Final = DataFile(
    name="mbpp_pro.json",
    url=f"{RAW}/CodeEval-Pro/CodeEval-Pro/36f292e/dataset/mbpp_pro.json",
    sha256="bb2edf4f2da393403083977e94cb4e4bbbe68fcb85495dfdf500885a945e8b3b",
    of="content",
    version="36f292e",
    licence="MIT",
)

_EVOEVAL_SHA256: Final[dict[EvoEvalSet, str]] = {
    "difficult": "8dc031773be0d2bc86172ec4242fd06ce4256c34a710f1affee24655946a4fd6",
    "creative": "4ab26cb7eb69aab36b68c60c44e9da4330b689b6ac23997062bb3a85977a427e",
    "subtle": "0b38871e0eadc7b8f5ae8038feac5496655412d4e68ca580cad8bd2c81b036b1",
    "combine": "44dab80c829bf0953e3fcaedbd50420a305d8d42e2cdaa03a7d6af96ce0bbe2f",
    "tool_use": "901166f15db3deac52e0a1f82a831390ea41127816970470c1d3fd4f9065dc79",
    "verbose": "97b6a7cb69b9f5a9c83301a98e54c681a5ff3c3beae92115d59c50fcaf8955e2",
    "concise": "d84771c5857e080ae310724e1e75784a46a8a9beea80d9b6427426634a885ddc",
}
EVOEVAL: Final[dict[EvoEvalSet, DataFile]] = {
    name: DataFile(
        name=f"EvoEval_{name}.jsonl.gz",
        url=f"{_GITHUB}/evo-eval/evoeval_release/releases/download/v0.1.0/EvoEval_{name}.jsonl.gz",
        sha256=sha256,
        of="file",
        version="v0.1.0",
        licence="Apache-2.0 (of the parent project)",
    )
    for name, sha256 in _EVOEVAL_SHA256.items()
}

_MBXP_FILES: Final[dict[MbxpLanguage, tuple[str, str]]] = {
    "python": ("mbpp_release_v1", "2ea7949f20ed5ecaacf4c9970d29430ec3f13772f4dd379665b1234f14b0ec3e"),
    "php": ("mbphp_release_v1.2", "aec706039e49bc1bd1c9aaf4cf4815a34777b8387bdc59c1b274312071f3a605"),
    "ruby": ("mbrbp_release_v1.2", "fe8c043b7d56f5d122c6aaf24e1dcb78816175a0687a73c03873043a6349b85d"),
    "javascript": ("mbjsp_release_v1.2", "9e443a1911bcedd8b5193f43d3217666fbf669cd00d54265941a8eb17e396f5a"),
    "perl": ("mbplp_release_v1", "1293f40e442bda81f1d39ab3769ab8136dfc823f7b41420294c1a1d3bf1d2b2f"),
}
MBXP: Final[dict[MbxpLanguage, DataFile]] = {
    language: DataFile(
        name=f"{name}.jsonl",
        url=f"{RAW}/amazon-science/mxeval/e09974f/data/mbxp/{name}.jsonl",
        sha256=sha256,
        of="content",
        version="e09974f",
        licence="CC BY 4.0",
    )
    for language, (name, sha256) in _MBXP_FILES.items()
}
