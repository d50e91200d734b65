import AppBackend

/// What the storage ports of the app backend promise, all of them on one empty store.
public enum BackendStorePromises {
    /// Every promise.
    public static let all: [StoragePromise<any BackendStore>] =
        UserStorePromises.all + BindingStorePromises.all + ContentCatalogPromises.all + NotificationStorePromises.all
        + ReadingStorePromises.all + SignInCountPromises.all + KeyStorePromises.all + AuditStorePromises.all
        + TokenStorePromises.all + ScheduleStorePromises.all + ActivityStorePromises.all
        + ChannelStorePromises.all + WebhookStorePromises.all
        + ConsoleStorePromises.all + TemplateStorePromises.all
}
