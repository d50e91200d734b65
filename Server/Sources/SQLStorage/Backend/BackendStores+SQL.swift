import AppBackend

extension BackendStores {
    /// All storage ports of one app on one database.
    public static func sql(_ database: any SQLDatabase, app: AppID = .standard) -> BackendStores {
        BackendStores(
            users: SQLUserStore(database, app: app), credentials: SQLCredentialStore(database, app: app),
            bindings: SQLBindingStore(database, app: app), contents: SQLContentCatalog(database, app: app),
            notifications: SQLRichNotificationStore(database, app: app), readMarks: SQLReadMarkStore(database, app: app),
            receipts: SQLReceiptStore(database, app: app), retention: SQLRetentionStore(database, app: app),
            persons: SQLPersonStore(database, app: app), signInCounts: SQLSignInCountStore(database, app: app))
    }
}

extension SQLStatement {
    /// Every statement of the app backend's stores.
    static let allOfBackend =
        BackendRows.all + SQLUserStore.all + SQLCredentialStore.all + SQLBindingStore.all + SQLContentCatalog.all
        + SQLRichNotificationStore.all + SQLReadMarkStore.all + SQLReceiptStore.all + SQLRetentionStore.all
        + SQLPersonStore.all + SQLSignInCountStore.all
}
