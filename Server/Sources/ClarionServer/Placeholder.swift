enum ClarionServerPlaceholder {}
