import DeviceSimulation

extension SimulatedPhone: PagePhone {}
