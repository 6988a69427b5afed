"""Promises that a method cannot keep, each with its reason; an excuse that is not needed fails."""

EXCUSES: dict[tuple[str, str], str] = {
    ("aali", "fake_cuda"): "its classifiers are scikit-learn's, which compute on the host",
    (
        "aali",
        "renaming",
    ): "which items a classifier misses is drawn, and the draws follow the codes",
    ("fds", "fake_cuda"): "whether to decide softly or hard depends on numbers in every step",
    ("auto", "fake_cuda"): "it reads back how far its members agree; they are tested themselves",
    (
        "bcc",
        "renaming",
    ): "every worker and item has random draws of their own, which follow the codes",
    ("ebcc", "renaming"): "every item has random starts of its own, which follow the codes",
    ("ebcc", "fake_cuda"): "random starts that have settled drop out, and numbers decide which",
    (
        "spectral_em",
        "fake_cuda",
    ): "the moments are taken apart on the host, and numbers decide whether that is valid",
    ("dewsmv", "renaming"): "every worker's weights are random draws, which follow the codes",
    (
        "dewsmv",
        "easy_crowd",
    ): "it looks for votes without doubt, and finds a few workers whom nobody contradicts",
    ("laa_l", "renaming"): "the weights of every worker and class start at random draws",
    ("mmlc_owf", "renaming"): "mini-batches are drawn, and the draws follow the codes",
    (
        "hgnn",
        "renaming",
    ): "the weights of every class start at random draws, which follow the codes",
    ("hgnn", "fake_cuda"): "it reads back what other methods agree on; with gold it is tried alone",
    ("mlp", "renaming"): "the weights of every worker and class start at random draws",
    (
        "pm",
        "easy_crowd",
    ): "the best workers weigh without bound and outvote the rest: three of 145 items lost",
    ("crowd_layer", "renaming"): "the net's weights and batches are drawn, and follow the codes",
    ("dl_dn", "renaming"): "the net's weights and batches are drawn, and follow the codes",
    ("dl_ds", "renaming"): "the net's weights and batches are drawn, and follow the codes",
    ("dl_ds", "fake_cuda"): "the truths to learn are read back; how they are learnt dl_true shows",
    ("dl_em", "renaming"): "the net's weights and batches are drawn, and follow the codes",
    ("dl_mv", "renaming"): "the net's weights and batches are drawn, and follow the codes",
    ("dl_mv", "fake_cuda"): "the truths to learn are read back; how they are learnt dl_true shows",
    ("dl_true", "renaming"): "the net's weights and batches are drawn, and follow the codes",
    (
        "dl_true",
        "easy_crowd",
    ): "it learns from the gold of a third of the items alone, and these items have no features",
    ("dl_wdn", "renaming"): "the net's weights and batches are drawn, and follow the codes",
    ("conal", "renaming"): "the net's weights and batches are drawn, and follow the codes",
    ("crowdar", "renaming"): "the net's weights and batches are drawn, and follow the codes",
    ("max_mig", "renaming"): "the net's weights and batches are drawn, and follow the codes",
    ("unionnet", "renaming"): "the net's weights and batches are drawn, and follow the codes",
}
