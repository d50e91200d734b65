enum ContentStoragePlaceholder {}
