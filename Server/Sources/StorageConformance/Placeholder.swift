enum StorageConformancePlaceholder {}
