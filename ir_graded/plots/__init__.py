"""Pictures of finished results; they compute nothing. Matplotlib is imported when the first is drawn."""
