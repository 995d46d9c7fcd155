"""What error replies mean: the recorded texts of known servers, and of lengths the numbers in them."""

import json
from typing import Any

import pytest

from triathlon_runner.llm import Chat, EndpointError, Message, ModelUnavailableError, OpenAI, Sampling
from triathlon_runner.llm._api import Retryable, Throttled
from triathlon_runner.llm._errors import classify, read_failure
from triathlon_runner.llm.provider import HttpReply

PUBLIC = OpenAI(base_url="https://api.example.com/v1", model="m", key_env="SOME_KEY")
LOCAL = OpenAI(base_url="http://127.0.0.1:1/v1", model="m")
BARE = OpenAI(base_url="http://127.0.0.1:1", model="m")


def meaning(
    status: int,
    body: Any,
    config: OpenAI = PUBLIC,
    context: int | None = None,
    headers: dict[str, str] | None = None,
) -> str:
    """Returns the outcome's name, `stop: why`, `throttled`, `again` or `question: why`."""
    raw = body.encode() if isinstance(body, str) else json.dumps(body).encode()
    request = config.request(Chat((Message("user", "q"),)), Sampling(4096))
    try:
        return classify(read_failure(HttpReply(status, raw, headers or {})), config, request, context).value
    except Throttled as error:
        return f"throttled {error.retry_after}"
    except Retryable as error:
        return f"again: {error}"
    except ModelUnavailableError as error:
        return f"stop: {error}"
    except EndpointError as error:
        return f"question: {error}"


KEY, ACCOUNT, REGION, QUOTA = "stop: the key", "does not serve this account", "account or region", "used up"
MODEL, KIND, MERGE = "does not know the model", "`kind: base`", "`system_prompt: merge`"

# fmt: off
ERRORS = [
    # openai
    (401, "invalid_api_key", "Incorrect API key provided: sk-no****.", KEY),
    (403, "", "Your account has been flagged for potentially violating our usage policies.", ACCOUNT),
    (429, "access_terminated", "Your access was terminated due to violation of our policies.", ACCOUNT),
    (403, "unsupported_country_region_territory", "Country, region, or territory not supported", REGION),
    (403, "model_not_found", "Project `proj_1` does not have access to model `m`", "no access to 'm'"),
    (429, "insufficient_quota", "You exceeded your current quota, please check your plan.", QUOTA),
    (400, "billing_hard_limit_reached", "Billing hard limit has been reached", QUOTA),
    (429, "", "Request too large for m on tokens per min (TPM): Limit 30000, Requested 31000.", "question"),
    (404, "model_not_found", "The model `m` does not exist or you do not have access to it.", MODEL),
    (404, "", "This is a chat model and not supported in the v1/completions endpoint.", KIND, "model"),
    (400, "unsupported_parameter",
     "Unsupported parameter: 'max_tokens' is not supported with this model. Use "
     "'max_completion_tokens' instead.", "max_tokens_field: max_completion_tokens", "max_tokens"),
    (400, "unsupported_value",
     "Unsupported value: 'temperature' does not support 0 with this model. Only the default "
     "(1) value is supported.", "unsupported: [temperature]", "temperature"),
    (400, "invalid_prompt", "Invalid prompt: your prompt was flagged as potentially violating", "refused"),
    (400, "invalid_prompt", "we've limited access to this content for safety reasons.", "refused"),
    (400, "", "Your request was rejected as a result of our safety system.", "refused"),
    (400, "", "The prompt triggered Azure OpenAI's content management policy.", "refused"),
    (400, "invalid_type", "Invalid type for 'messages[0].content'.", "question", "messages"),
    (400, "", "Could not finish the message because max_tokens or model output limit was reached. Please try"
     " again with higher max_tokens.", "length"),
    (404, "", "This model is only supported in v1/responses and not in v1/chat/completions.", KIND, "model"),
    (400, "unsupported_value", "Unsupported value: 'messages[0].role' does not support 'system' with this"
     " model.", MERGE, "messages[0].role"),
    # anthropic
    (403, "permission_error", "Your API key does not have permission to use the resource.", KEY),
    (403, "forbidden", "Request not allowed", "no access to 'm'"),
    (400, "invalid_request_error", "This organization has been disabled.", ACCOUNT),
    (400, "invalid_request_error", "Your credit balance is too low to access the Anthropic API.", QUOTA),
    (400, "invalid_request_error", "You have reached your specified API usage limits.", QUOTA),
    (404, "not_found_error", "model: m", MODEL),
    (400, "invalid_request_error", "Output blocked by content filtering policy", "refused"),
    (400, "invalid_request_error",
     "`temperature` and `top_p` cannot both be specified for this model.", "unsupported: [temperature]"),
    (400, "invalid_request_error", "`temperature` may only be set to 1 when thinking is enabled.",
     "unsupported: [temperature]"),
    (400, "invalid_request_error", "`max_tokens` must be greater than `thinking.budget_tokens`. Please"
     " consult https://docs.claude.com/en/docs/extended-thinking#max-tokens-and-context-window-size",
     "set `reasoning_max_tokens`"),
    (429, "rate_limit_error", "This would exceed your organization's rate limit per minute", "throttled"),
    # gemini
    (400, "INVALID_ARGUMENT", "API key not valid. Please pass a valid API key.", KEY),
    (403, "PERMISSION_DENIED", "Your API key was reported as leaked. Please use another API key.", KEY),
    (403, "PERMISSION_DENIED", "Permission denied: Consumer 'api_key:x' has been suspended.", ACCOUNT),
    (400, "FAILED_PRECONDITION", "User location is not supported for the API use.", REGION),
    (404, "NOT_FOUND", "models/m is not found for API version v1beta", MODEL),
    (429, "RESOURCE_EXHAUSTED", "You exceeded your current quota, please check billing.", "throttled"),
    (429, "RESOURCE_EXHAUSTED", "Quota exceeded for metric: GenerateRequestsPerDayPerProject", QUOTA),
    (429, "RESOURCE_EXHAUSTED", "Quota exceeded for metric: generate_requests_per_model_per_day", QUOTA),
    # deepseek
    (400, "invalid_request_error", "Content Exists Risk", "refused"),
    (400, "invalid_request_error", "Model Not Exist", MODEL),
    # openrouter
    (402, "", "Insufficient credits. Add more using https://openrouter.ai/settings/credits", QUOTA),
    (403, "", "Key limit exceeded (total limit). Manage it using the key settings", KEY),
    (403, "", "Your chosen model requires moderation and your input was flagged flagged_input", "refused"),
    (400, "", "m is not a valid model ID", MODEL),
    (404, "", "No endpoints found for m.", MODEL),
    (404, "", "No endpoints found matching your data policy (Free model training).", "stop: "),
    (404, "", "No endpoints available matching your guardrail restrictions and data policy.", ACCOUNT),
    (404, "", "No allowed providers are available for the selected model.", ACCOUNT),
    (429, "", "Rate limit exceeded: free-models-per-day. Add 10 credits to unlock 1000 requests", QUOTA),
    # vllm
    (400, "BadRequestError", "default chat template is no longer allowed, so you must provide one", KIND),
    (400, "BadRequestError", "The model does not support Chat Completions API", KIND),
    (400, "BadRequestError", "Conversation roles must alternate user/assistant/user/...", MERGE),
    # llama_cpp
    (501, "not_supported_error", "This server does not support metrics endpoint.", "question"),
    # ollama
    (400, "invalid_request_error", '"m" does not support chat', KIND),
    (500, "", "model requires more system memory (5.0 GiB) than is available (3.9 GiB)", "too little memory"),
    (403, "", "this model requires a subscription, upgrade for access", ACCOUNT),
    (429, "", "you've reached your hourly usage limit, please upgrade to continue", QUOTA),
    # proxies
    (407, "", "", "the proxy on the way to the server wants a user and a password"),
    (413, "", "<html><h1>413 Request Entity Too Large</h1><hr>nginx</html>", "question"),
    # litellm
    (400, "no_db_connection", "No connected db.", KEY),
    (400, "400", "AzureException - Unsupported parameter: 'max_tokens' is not supported with this model. Use"
     " 'max_completion_tokens' instead.", "max_tokens_field: max_completion_tokens", "None"),
    (401, "auth_error", "litellm.AuthenticationError: OpenAIException - Incorrect API key provided",
     "the key with which the server itself asks"),
    (400, "400", "litellm.ContentPolicyViolationError: VertexAIException - blocked", "refused"),
    (429, "", "No deployments available - crossed budget: Exceeded budget for deployment x", QUOTA),
    (429, "budget_exceeded", "Budget has been exceeded! Key=x Current cost: 2.0, Max budget: 1.0", QUOTA),
    (400, "", "/chat/completions: Invalid model name passed in model=wrongname.", MODEL),
    # transformers serve MODEL
    (400, "", "Server is pinned to 'owner/name'; requested 'm'.", MODEL),
    # templates without a system role
    (400, "BadRequestError", "System role not supported", MERGE),
    (400, "", "Only user and assistant roles are supported!", MERGE),
    (400, "", "Developer instruction is not enabled for models/gemma-3-27b-it", MERGE),
    # behind them Amazon's Bedrock
    (400, "", "ValidationException: This model doesn't support system messages.", MERGE),
    (400, "", "ValidationException: The provided model identifier is invalid.", MODEL),
    (400, "", "Invocation of model ID m with on-demand throughput isn’t supported.", MODEL),
    # together, groq, nvidia
    (400, "model_not_available", "Unable to access non-serverless model m. Please visit", MODEL),
    (400, "model_decommissioned", "The model `m` has been decommissioned and is no longer supported.", MODEL),
    (410, "", "The model 'm' has reached its end of life and is no longer available.", MODEL),
    # novita, siliconflow, dashscope, moonshot
    (400, "invalid_parameter_error",
     "This model only support stream mode, please enable the stream parameter to access the model. ",
     "stop: 'm' replies in a stream alone"),
    (403, "", "not enough balance", QUOTA),
    (403, "30001", "Sorry, your account balance is insufficient", QUOTA),
    (403, "AllocationQuota.FreeTierOnly", "The free tier of the model has been exhausted.", QUOTA),
    (429, "exceeded_current_quota_error", "You exceeded your current token quota.", QUOTA),
    # xai
    (403, "", "Your newly created team doesn't have any credits or licenses yet.", QUOTA),
    (400, "", "Argument not supported on this model: stop", "unsupported: [stop]"),
    (403, "", "Content violates usage guidelines. Model: m, Failed check: SAFETY_CHECK_TYPE_BIO", "refused"),
    # zhipu
    (400, "1301", "System detected potentially unsafe or sensitive content in input.", "refused"),
    (400, "1301", "系统检测到输入或生成内容可能包含不安全或敏感内容", "refused"),
    # moonshot
    (400, "", "invalid temperature: only 1 is allowed for this model", "unsupported: [temperature]"),
    # any server
    (404, "", "404 page not found", "nothing there: is the path of 'https://api.example.com/v1' right?"),
    (422, "", "Extra inputs are not permitted: seed", "unsupported: [seed]"),
    (400, "", "Too many stop sequences", "unsupported: [stop]", "stop"),
    (400, "", "Something odd", "question: 400, the server said 'Something odd'; look at"),
    (400, "", "Payload too large", "set a smaller `max_tokens`"),
]
# fmt: on


@pytest.mark.parametrize("case", ERRORS, ids=lambda case: f"{case[0]}-{case[2][:30]}")
def test_what_servers_say(case: tuple[Any, ...]) -> None:
    """Only a refusal of this request's content is an outcome; what no question can cure stops the model."""
    status, code, message, means, param = (*case, "")[:5]
    error = {"message": message, "code": code or None, "param": param or None}
    assert means in meaning(status, {"error": error})


@pytest.mark.parametrize("status", [408, 409, 424, 425, 498, 499, 500, 502, 503, 504, 520, 529])
def test_tried_again(status: int) -> None:
    """Time-outs, conflicts and server errors are tried again; a page of megabytes is no message of one."""
    assert len(meaning(status, "<html>" + "x" * 1_000_000)) < 1000
    assert meaning(status, "[" * 100_000).startswith("again")


PER_DAY = {"violations": [{"quotaId": "GenerateRequestsPerDayPerProjectPerModel-FreeTier"}]}
N_CTX = {"message": "the request exceeds the available context size", "n_prompt_tokens": 5000, "n_ctx": 512}
ODD_ERRORS = [
    # status, body, meaning
    (202, "", "again: 202, the server gave no reason"),
    (200, {"error": "Unexpected endpoint or method. (POST /chat/completions)"}, "nothing there: is the path"),
    (429, {"error": {"message": "Please retry in 37.59s.", "details": [PER_DAY]}}, QUOTA),
    (200, {"error": "Insufficient balance"}, QUOTA),
    (402, {"error": None, "message": "Top up."}, "the server said 'Top up.'"),
    (200, {"detail": "The model m does not exist."}, MODEL),
    (200, {"error": {"message": "You have run out of credits"}}, QUOTA),
    (200, {"error": {"message": "slow down", "code": 429}}, "throttled"),
    (200, {"object": "error", "message": "The model `m` does not exist.", "code": 404}, MODEL),
    (200, {"code": 401, "msg": "token expired"}, KEY),
    (200, {"error": {"message": "rate limit, add credits"}}, "again: 200, the server said 'rate limit"),
    (200, {"error": {"message": "upstream", "code": 502}}, "again: 502, the server said 'upstream'"),
    (200, [{"error": {"message": "API key not valid.", "status": "INVALID_ARGUMENT"}}], KEY),
    (400, "x" * 300, f"the server said '{'x' * 300}';"),
    (400, "x" * 301, f"the server said '{'x' * 300}…';"),
]


@pytest.mark.parametrize(("status", "body", "means"), ODD_ERRORS, ids=lambda value: str(value)[:40])
def test_odd_errors(status: int, body: Any, means: str) -> None:
    """An error in a good reply means what its words say; of an error page 300 characters are quoted."""
    assert means in meaning(status, body)


def test_numbers_beside_the_message() -> None:
    """llama.cpp states them in fields of their own."""
    assert "context of 512 tokens" in meaning(400, {"error": N_CTX}, LOCAL)


def test_advice() -> None:
    """A path without /v1 suggests it; a redirect shows its host alone; a model without a key is told how."""
    assert "try 'http://127.0.0.1:1/v1'" in meaning(404, "", BARE)
    assert "a request without a key was not accepted" in meaning(401, "", BARE)
    assert "`key_env: NAME`" in meaning(401, "", BARE)
    moved = meaning(301, "", headers={"location": "https://u:p@evil.example/?key=a%2Fb"})
    assert "'evil.example'" in moved and "a%2Fb" not in moved and "u:p" not in moved


@pytest.mark.parametrize(
    ("headers", "text", "wait"),
    [
        ({"retry-after": "7"}, "", "7.0"),
        ({}, "Rate limit reached. Please try again in 1m20.5s.", "80.5"),
        ({}, '{"error": {"details": [{"retryDelay": "21s"}]}}', "21.0"),
        ({}, "Please retry after 9 seconds.", "9.0"),
        ({}, "Try again in 1 minute.", "60.0"),
        ({}, "Rate limit exceeded. Please wait 41123 seconds before retrying.", "41123.0"),
        ({}, "Try again in 250 milliseconds.", "None"),
        ({"retry-after": "Sat, 01 Jan 2050 00:00:30 GMT", "date": "Sat, 01 Jan 2050 00:00 GMT"}, "", "30.0"),
        ({}, "", "None"),
    ],
)
def test_how_long_to_wait(headers: dict[str, str], text: str, wait: str) -> None:
    """The wait stands in a header or in the text; a moment is one of the server's clock."""
    assert meaning(429, text, headers=headers) == f"throttled {wait}"


# fmt: off
IS = "This model's maximum context length is"
VALID = "Input validation error: `inputs`"
LENGTHS = [
    # status, message, tokens left for the reply (0: unknown; None: the question is too long), context
    (400, f"{IS} 4096 tokens. However, you requested 4406 tokens (310 in the messages, 4096 in the"
     " completion). Please reduce the length of the messages or completion.", 3786, 4096),
    (400, f"'max_tokens' or 'max_completion_tokens' is too large: 4096. {IS} 4096 tokens and your request has"
     " 310 input tokens (4096 > 4096 - 310).", 3786, 4096),
    (400, f"{IS} 2048 tokens. However, you requested 4096 output tokens and your prompt contains at least"
     " 310 input tokens, for a total of at least 4406 tokens.", 1738, 2048),
    (400, "This endpoint's maximum context length is 131072 tokens. However, you requested about 132072"
     " tokens (8000 of text input, 124072 in the output). Please reduce the length.", 123072, 131072),
    (400, "Requested token count exceeds the model's maximum context length of 4096 tokens. You requested a"
     " total of 4406 tokens: 310 tokens from the input messages and 4096 tokens for the completion.",
     3786, 4096),
    (422, f"{VALID} tokens + `max_new_tokens` must be <= 2048. Given: 310 `inputs` tokens and 4096"
     " `max_new_tokens`", 1738, 2048),
    (400, "input length and `max_tokens` exceed context limit: 190000 + 20000 > 200000, decrease"
     " input length", 10000, 200000),
    (400, "max_tokens is too large: 5000. This model supports at most 512 completion tokens", 0, None),
    (400, "max_tokens: 10000 > 8192, which is the maximum allowed number of output tokens for m", 0, None),
    (400, "Invalid max_tokens value, the valid range of max_tokens is [1, 8192]", 0, None),
    (400, "it has a maxOutputTokens value of 9000 but the supported range is from 1 to 8193", 0, None),
    (400, "`max_tokens` must be less than or equal to `8192`, the maximum value for `max_tokens` is less than"
     " the `context_window` for this model", 0, None),
    (400, "max_tokens=4096 cannot be greater than max_model_len=2048. Please request fewer output tokens.",
     0, None),
    (400, f"{IS} 2048 tokens. However, your messages resulted in 2610 tokens.", None, 2048),
    (400, f"{IS} 512 tokens, however you requested 711 tokens (701 in your prompt; 10 for the completion).",
     None, 512),
    (400, "The decoder prompt (length 3000) is longer than the maximum model length of 2048.", None, 2048),
    (400, "request (2610 tokens) exceeds the available context size (2048 tokens), try increasing it",
     None, 2048),
    (400, "the request exceeds the available context size, try increasing it", None, None),
    (400, "The input (2610 tokens) is longer than the model's context length (2048 tokens).", None, 2048),
    (422, f"{VALID} must have less than 1024 tokens. Given: 2610", None, 1024),
    (400, "the input length exceeds the context length", None, None),
    (400, "prompt is too long: 210000 tokens > 200000 maximum", None, 200000),
    (400, "Prompt contains 40000 tokens and 0 draft tokens, too large for model with 32768 maximum context"
     " length", None, 32768),
    (400, "The input token count (1200000) exceeds the maximum number of tokens allowed (1048576).",
     None, 1048576),
    (400, "Range of input length should be [1, 30720]", None, 30720),
    (400, "Unable to submit request because the input token count is 1200000 but model only supports up to"
     " 1048576. Reduce the input token count and try again.", None, 1048576),
    (400, "Too many input tokens. Max input tokens: 128000, request input token count: 131072", None, 128000),
    (400, "Invalid request: Your request exceeded model token limit: 8192", None, 8192),
    (400, "too many tokens: size limit exceeded by 3000 tokens. Try using shorter or fewer inputs. The limit"
     " for this model is 128000 tokens.", None, 128000),
    (400, "The maximum tokens you requested exceeds the model limit of 8192.", 0, None),
    (400, "Prompt exceeds max length", None, None),
    (400, "litellm.ContextWindowExceededError: this is a mock context window exceeded error", None, None),
]
# fmt: on


@pytest.mark.parametrize(("status", "message", "left", "context"), LENGTHS)
def test_lengths(status: int, message: str, left: int | None, context: int | None) -> None:
    """A limit without room is a setting; a long question an outcome, where the server can do no more."""
    if left == 0:
        assert "set a smaller `max_tokens` or `reasoning_max_tokens`" in meaning(status, message, LOCAL)
        return
    if left is not None:
        reasons = LOCAL.model_copy(update={"reasoning_max_tokens": 100})
        assert f"set `max_tokens: {left - 100}` in the model's row" in meaning(status, message, reasons)
        for config in (PUBLIC, LOCAL):
            assert f"set `max_tokens: {left}` in the model's row" in meaning(status, message, config)
        return
    assert meaning(status, message) == "context_overflow"
    stopped = meaning(status, message, LOCAL)
    assert f"set `context: {context or 'N'}` in the row if the model can do no more" in stopped
    assert meaning(status, message, LOCAL, context or 2048) == "context_overflow"
    if context is not None:
        more = meaning(status, message, LOCAL, context + 1)
        assert "the row's `context` is" in more and "larger one" in more
