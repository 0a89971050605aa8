// Nothing is tampered with: what the others are compared with.
