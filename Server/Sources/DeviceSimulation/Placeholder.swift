enum DeviceSimulationPlaceholder {}
