"""A busy node at any message size: bytes, messages and busy partners have costs."""

from isochrone.models.formulas.family import Family, Form

_INSIDE = {"ba": "α", "pa": "α'"}
_BETWEEN = {"max(bi,bo)": "β_1", "min(bi,bo)": "β_2"}
_OTHERS = {"busy*busy*max(bi,bo)": "β_3", "busy*busy*min(bi,bo)": "β_4"}
"""Additional cost with busy partners: contention at both ends, hence the square."""


def _forms() -> list[Form]:
    """Return formulas from short to long: few data cannot determine all terms."""
    all_terms = {**_BETWEEN, **_INSIDE, "pe": "c"}
    term_sets = [
        {"ba": "α", "pe": "c"},
        {**_INSIDE, "pe": "c"},
        all_terms,
        {**all_terms, **_OTHERS},
    ]
    return [Form((*terms, "1"), (*terms.values(), "γ")) for terms in term_sets]


FAMILY = Family(
    formula=(
        r"T = \beta_1 \max(b_i,b_o) + \beta_2 \min(b_i,b_o) + \alpha\,b_a + \alpha' p_a + c\,p_e"
        r" + \gamma + y^2 \left(\beta_3 \max(b_i,b_o) + \beta_4 \min(b_i,b_o)\right)"
    ),
    source=(
        "`hotspot-directional`, with bytes in addition to messages, and the load of other nodes"
    ),
    limitations=(
        "If messages within the node take as long as those between nodes and overlap with them, "
        "the sum overestimates the time."
    ),
    forms=tuple(_forms()),
    splits=("max(bi,bo)",),
    operations=("hotspot",),
    min_values=2,
    costs=True,
)
