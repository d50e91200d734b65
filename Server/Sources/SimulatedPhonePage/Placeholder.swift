enum SimulatedPhonePagePlaceholder {}
