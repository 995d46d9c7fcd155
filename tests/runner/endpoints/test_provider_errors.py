"""What the error replies of known servers mean, by their recorded texts."""

import json
from typing import Any

import pytest

from triathlon_runner.endpoints import ApiConfig, EndpointError, ModelUnavailableError
from triathlon_runner.endpoints._api import Retryable, Throttled
from triathlon_runner.endpoints._http_errors import classify_http_error, read_failure

CONFIG = ApiConfig(base_url="http://127.0.0.1:1/v1", model="m", key_env="SOME_KEY")


def openai(message: str, code: str | None = None, kind: str | None = None, param: str | None = None) -> Any:
    return {"error": {"message": message, "type": kind, "param": param, "code": code}}


def anthropic(kind: str, message: str) -> Any:
    return {"type": "error", "error": {"type": kind, "message": message}}


def google(code: int, status: str, message: str, **details: Any) -> Any:
    return [{"error": {"code": code, "message": message, "status": status, **details}}]


def openrouter(code: int, message: str, **metadata: Any) -> Any:
    return {"error": {"code": code, "message": message, "metadata": metadata}}


def vllm(code: int, kind: str, message: str) -> Any:
    return {"error": {"message": message, "type": kind, "param": None, "code": code}}


def meaning(status: int, body: Any) -> str:
    """The outcome's name, `stop: why`, `throttled`, `again` or `question`."""
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    try:
        return classify_http_error(read_failure(status, raw, {}), CONFIG).value
    except Throttled:
        return "throttled"
    except Retryable:
        return "again"
    except ModelUnavailableError as error:
        return f"stop: {error}"
    except EndpointError:
        return "question"


KEY, ACCOUNT, REGION, QUOTA = "stop: the key", "does not serve this account", "this region", "used up"
MODEL, KIND, TOKENS = "does not know the model", "`kind: base`", "set `max_tokens: "

OPENAI = [
    (401, openai("Incorrect API key provided: sk-no****.", "invalid_api_key", "invalid_request_error"), KEY),
    (401, openai("You must be a member of an organization to use the API.", "no_organization"), KEY),
    (403, openai("Your account has been flagged for potentially violating our usage policies."), ACCOUNT),
    (
        429,
        openai(
            "Your access was terminated due to violation of our policies, please check your email.",
            kind="access_terminated",
        ),
        ACCOUNT,
    ),
    (401, openai("The account has been deactivated.", "account_deactivated"), KEY),
    (
        403,
        openai("Country, region, or territory not supported", "unsupported_country_region_territory"),
        REGION,
    ),
    (
        403,
        openai("Project `proj_1` does not have access to model `m`", "model_not_found"),
        "no access to 'm'",
    ),
    (429, openai("You exceeded your current quota, please check your plan.", "insufficient_quota"), QUOTA),
    (400, openai("Billing hard limit has been reached", "billing_hard_limit_reached"), QUOTA),
    (
        429,
        openai("Rate limit reached for m on requests per min (RPM): Limit 3.", "rate_limit_exceeded"),
        "throttled",
    ),
    (
        429,
        openai("Request too large for m on tokens per min (TPM): Limit 30000, Requested 31000."),
        "question",
    ),
    (404, openai("The model `m` does not exist or you do not have access to it.", "model_not_found"), MODEL),
    (
        404,
        openai("This is a chat model and not supported in the v1/completions endpoint.", param="model"),
        KIND,
    ),
    (
        400,
        openai("This model's maximum context length is 8192 tokens.", "context_length_exceeded"),
        "context_overflow",
    ),
    (400, openai("Input tokens exceed the configured limit of 272000 tokens."), "context_overflow"),
    (
        400,
        openai(
            "max_tokens is too large: 1024. This model supports at most 512 completion tokens, whereas you"
            " provided 1024.",
            "invalid_value",
            param="max_tokens",
        ),
        TOKENS + "512`",
    ),
    (
        400,
        openai(
            "Unsupported parameter: 'max_tokens' is not supported with this model. Use"
            " 'max_completion_tokens' instead.",
            "unsupported_parameter",
            param="max_tokens",
        ),
        "max_tokens_field: max_completion_tokens",
    ),
    (
        400,
        openai(
            "Unsupported value: 'temperature' does not support 0 with this model. Only the default (1)"
            " value is supported.",
            "unsupported_value",
            param="temperature",
        ),
        "unsupported: [temperature]",
    ),
    (
        400,
        openai(
            "Invalid prompt: your prompt was flagged as potentially violating our usage policy.",
            "invalid_prompt",
        ),
        "refused",
    ),
    (
        400,
        openai("Invalid prompt: we've limited access to this content for safety reasons.", "invalid_prompt"),
        "refused",
    ),
    (400, openai("Your request was rejected as a result of our safety system."), "refused"),
    (400, openai("Your request was rejected by our safety system.", "content_policy_violation"), "refused"),
    (
        400,
        openai(
            "The response was filtered due to the prompt triggering Azure OpenAI's content management"
            " policy.",
            "content_filter",
        ),
        "refused",
    ),
    (400, openai("Invalid type for 'messages[0].content'.", "invalid_type", param="messages"), "question"),
    (500, openai("The server had an error while processing your request."), "again"),
]
ANTHROPIC = [
    (401, anthropic("authentication_error", "invalid x-api-key"), KEY),
    (403, anthropic("permission_error", "Your API key does not have permission to use the resource."), KEY),
    (403, anthropic("forbidden", "Request not allowed"), "no access to 'm'"),
    (400, anthropic("invalid_request_error", "This organization has been disabled."), ACCOUNT),
    (
        400,
        anthropic("invalid_request_error", "Your credit balance is too low to access the Anthropic API."),
        QUOTA,
    ),
    (400, anthropic("invalid_request_error", "You have reached your specified API usage limits."), QUOTA),
    (404, anthropic("not_found_error", "model: m"), MODEL),
    (
        400,
        anthropic("invalid_request_error", "prompt is too long: 210000 tokens > 200000 maximum"),
        "context_overflow",
    ),
    (
        400,
        anthropic(
            "invalid_request_error",
            "input length and `max_tokens` exceed context limit: 199000 + 8192"
            " > 200000, decrease input length or `max_tokens`",
        ),
        "context_overflow",
    ),
    (
        400,
        anthropic(
            "invalid_request_error",
            "max_tokens: 10000 > 8192, which is the maximum allowed number of output tokens for m",
        ),
        TOKENS + "8192`",
    ),
    (400, anthropic("invalid_request_error", "Output blocked by content filtering policy"), "refused"),
    (
        400,
        anthropic(
            "invalid_request_error", "`temperature` and `top_p` cannot both be specified for this model."
        ),
        "unsupported: [temperature]",
    ),
    (413, anthropic("request_too_large", "Request exceeds the maximum size"), "question"),
    (
        429,
        anthropic(
            "rate_limit_error",
            "This request would exceed your organization's rate limit of 50,000 input tokens per minute",
        ),
        "throttled",
    ),
    (529, anthropic("overloaded_error", "Overloaded"), "again"),
]
GEMINI = [
    (400, google(400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key."), KEY),
    (400, google(400, "INVALID_ARGUMENT", "API key expired. Please renew the API key."), KEY),
    (
        403,
        google(403, "PERMISSION_DENIED", "Your API key was reported as leaked. Please use another API key."),
        KEY,
    ),
    (
        403,
        google(403, "PERMISSION_DENIED", "Permission denied: Consumer 'api_key:x' has been suspended."),
        ACCOUNT,
    ),
    (400, google(400, "FAILED_PRECONDITION", "User location is not supported for the API use."), REGION),
    (404, google(404, "NOT_FOUND", "models/m is not found for API version v1beta"), MODEL),
    (
        400,
        google(
            400,
            "INVALID_ARGUMENT",
            "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
        ),
        "context_overflow",
    ),
    (
        400,
        google(
            400,
            "INVALID_ARGUMENT",
            "Unable to submit request because it has a maxOutputTokens value of"
            " 9000 but the supported range is from 1 (inclusive) to 8193 (exclusive).",
        ),
        TOKENS + "8192`",
    ),
    (
        429,
        google(
            429,
            "RESOURCE_EXHAUSTED",
            "You exceeded your current quota, please check your plan and billing"
            " details. Please retry in 21.5s.",
        ),
        "throttled",
    ),
    (
        429,
        google(
            429,
            "RESOURCE_EXHAUSTED",
            "You exceeded your current quota. Quota exceeded for metric:"
            " GenerateRequestsPerDayPerProjectPerModel-FreeTier",
        ),
        QUOTA,
    ),
    (503, google(503, "UNAVAILABLE", "The model is overloaded. Please try again later."), "again"),
]
DEEPSEEK = [
    (400, openai("Content Exists Risk", "invalid_request_error", "invalid_request_error"), "refused"),
    (400, openai("Model Not Exist", "invalid_request_error", "invalid_request_error"), MODEL),
    (401, openai("Authentication Fails, Your api key: ****abcd is invalid", "invalid_request_error"), KEY),
    (402, openai("Insufficient Balance", "invalid_request_error", "unknown_error"), QUOTA),
    (400, openai("Invalid max_tokens value, the valid range of max_tokens is [1, 8192]"), TOKENS + "8192`"),
    (
        400,
        openai("This model's maximum context length is 65536 tokens. However, you requested 70000 tokens"),
        "context_overflow",
    ),
    (429, openai("Rate limit reached"), "throttled"),
]
OPENROUTER = [
    (401, openrouter(401, "No auth credentials found"), KEY),
    (
        402,
        openrouter(402, "Insufficient credits. Add more using https://openrouter.ai/settings/credits"),
        QUOTA,
    ),
    (
        402,
        openrouter(
            402,
            "This request requires more credits, or fewer max_tokens. You requested up to 4096"
            " tokens, but can only afford 2000.",
        ),
        QUOTA,
    ),
    (403, openrouter(403, "Key limit exceeded (total limit). Manage it using the key settings"), KEY),
    (
        403,
        openrouter(
            403,
            "Your chosen model requires moderation and your input was flagged",
            reasons=["violence"],
            flagged_input="x",
        ),
        "refused",
    ),
    (400, openrouter(400, "m is not a valid model ID"), MODEL),
    (404, openrouter(404, "No endpoints found for m."), MODEL),
    (404, openrouter(404, "No endpoints found matching your data policy (Free model training)."), "stop: "),
    (429, openrouter(429, "Rate limit exceeded: free-models-per-min."), "throttled"),
    (
        429,
        openrouter(429, "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 requests"),
        QUOTA,
    ),
    (
        400,
        openrouter(
            400,
            "Provider returned error",
            provider_name="OpenAI",
            raw=json.dumps(openai("Unsupported value: 'temperature' does not support 0 with this model.")),
        ),
        "unsupported: [temperature]",
    ),
    (502, openrouter(502, "Provider returned error"), "again"),
    (408, openrouter(408, "Request timed out"), "again"),
]
MISTRAL = [
    (
        400,
        {"message": "Prompt contains 40000 tokens …, too large for model with 32768 maximum context"},
        "context_overflow",
    ),
]
VLLM = [
    (
        400,
        {"object": "error", "message": "This model's maximum context length is 2048 tokens.", "code": 400},
        "context_overflow",
    ),
    (401, {"error": "Unauthorized"}, KEY),
    (404, vllm(404, "NotFoundError", "The model `m` does not exist."), MODEL),
    (
        400,
        vllm(
            400,
            "BadRequestError",
            "This model's maximum context length is 2048 tokens. However, you requested"
            " 2500 tokens. Please reduce the length of the messages or completion.",
        ),
        "context_overflow",
    ),
    (
        400,
        vllm(
            400,
            "BadRequestError",
            "'max_tokens' or 'max_completion_tokens' is too large: 1024. This model's"
            " maximum context length is 2048 tokens and your request has 1500 input tokens",
        ),
        "context_overflow",
    ),
    (
        400,
        vllm(
            400,
            "BadRequestError",
            "The decoder prompt (length 3000) is longer than the maximum model length of 2048.",
        ),
        "context_overflow",
    ),
    (
        400,
        vllm(
            400,
            "BadRequestError",
            "As of transformers v4.44, default chat template is no longer allowed, so you"
            " must provide a chat template if the tokenizer does not define one.",
        ),
        KIND,
    ),
    (400, vllm(400, "BadRequestError", "The model does not support Chat Completions API"), KIND),
    (
        400,
        vllm(
            400,
            "BadRequestError",
            "[{'type': 'extra_forbidden', 'loc': ('body', 'seed'), 'msg': 'Extra inputs are not permitted'}]",
        ),
        "unsupported: [seed]",
    ),
    (
        400,
        vllm(400, "BadRequestError", "Conversation roles must alternate user/assistant/user/..."),
        "question",
    ),
    (500, vllm(500, "InternalServerError", "EngineCore encountered an issue."), "again"),
]
LLAMA_CPP = [
    (401, openai("Invalid API Key", kind="authentication_error"), KEY),
    (
        400,
        openai(
            "the request exceeds the available context size, try increasing it",
            kind="exceed_context_size_error",
        ),
        "context_overflow",
    ),
    (503, openai("Loading model", kind="unavailable_error"), "again"),
    (501, openai("This server does not support metrics endpoint.", kind="not_supported_error"), "question"),
]
OLLAMA = [
    (404, openai('model "m" not found, try pulling it first', kind="api_error"), MODEL),
    (400, openai('"m" does not support chat', kind="invalid_request_error"), KIND),
    (400, openai("the input length exceeds the context length"), "context_overflow"),
    (
        500,
        openai("model requires more system memory (5.0 GiB) than is available (3.9 GiB)"),
        "too little memory",
    ),
    (500, openai("llama runner process has terminated: exit status 2"), "again"),
    (503, openai("server busy, please try again.  maximum pending requests exceeded"), "again"),
    (403, openai("this model requires a subscription, upgrade for access"), ACCOUNT),
    (429, openai("you've reached your hourly usage limit, please upgrade to continue"), QUOTA),
]
PROXIES = [
    (407, "", "the proxy on the way to the server wants a user and a password"),
    (413, "<html><h1>413 Request Entity Too Large</h1><hr>nginx</html>", "question"),
    (403, "", "the server gave no reason"),
]


@pytest.mark.parametrize(
    ("status", "body", "means"),
    [*OPENAI, *ANTHROPIC, *GEMINI, *DEEPSEEK, *OPENROUTER, *MISTRAL, *VLLM, *LLAMA_CPP, *OLLAMA, *PROXIES],
)
def test_what_servers_say(status: int, body: Any, means: str) -> None:
    """Only a refusal of this request's content and a full context are outcomes of the model.

    Key, account, region, money and refused settings stop it with what to do.
    """
    got = meaning(status, body)
    assert means in got if got.startswith("stop: ") else got == means, got
