"""Operations that read, by their names, and yet give each caller something of its own."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from botocore.model import OperationModel

# What is made for the caller or handed out once: random passwords, tasks from a queue, credentials,
# tokens, links that open a session. Source: the service models of botocore, whose operations with
# such names a test holds against this.
_PERSONAL = re.compile(
    r"Get(Id|MatchId|\w*("
    r"ActivityTask|Credentials\w*|InAppMessages|LatestConfiguration|NextMessage|RandomPassword|"
    r"Tokens?|Token(For|From)\w+|TokensFrom\w+|UploadLinks|VerificationCode|"
    r"(Authentication|Embed|Login|Presigned|Session|Upload)(Url|URL)))"
)

# Those of them that tell everybody the same, or as good as.
_FOR_ALL = frozenset(
    {
        ("acm", "GetAcmeExternalAccountBindingCredentials"),
        ("amplifybackend", "GetToken"),
        ("codeartifact", "GetAuthorizationToken"),
        ("ecr", "GetAuthorizationToken"),
        ("ecr-public", "GetAuthorizationToken"),
        ("mturk", "GetFileUploadURL"),
        ("route53globalresolver", "GetAccessToken"),
    }
)


def is_personal(service: str, model: OperationModel) -> bool:
    """Tell whether the answers of an operation are not the same for all who ask alike.

    A Get operation with a token that makes it idempotent does something for its caller, whatever
    its name says.
    """
    name = str(model.name)
    if (service, name) in _FOR_ALL:
        return False
    if _PERSONAL.fullmatch(name):
        return True
    return name.startswith("Get") and bool(model.idempotent_members)
