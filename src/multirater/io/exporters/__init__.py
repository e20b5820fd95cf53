"""Labels out, in the files that labelling tools read: one module per tool."""
