enum AppBackendPlaceholder {}
