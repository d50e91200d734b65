enum BackendHTTPAPIPlaceholder {}
