enum APNsDeliveryPlaceholder {}
