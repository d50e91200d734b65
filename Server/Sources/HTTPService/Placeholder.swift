enum HTTPServicePlaceholder {}
