enum SharedAccessPlaceholder {}
