"""The words of a command, made of usual ones and others: an option is given once."""


def last_said(*words):
    """The words, but of an option that is there twice the last alone; ``--mean`` may be."""
    groups = []
    for word in words:
        if word.startswith("--") or not groups:
            groups.append([word])
        else:
            groups[-1].append(word)
    later = [group[0] for group in groups]
    kept = []
    for number, group in enumerate(groups):
        if group[0] == "--mean" or group[0] not in later[number + 1 :]:
            kept += group
    return kept
