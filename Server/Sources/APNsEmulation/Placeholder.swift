enum APNsEmulationPlaceholder {}
