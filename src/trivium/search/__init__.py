"""Finding by text: segmentation, the keyword index, scores."""
