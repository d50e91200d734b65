enum ServerObservabilityPlaceholder {}
