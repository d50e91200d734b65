enum RichPushDevicePlaceholder {}
