/// The clients of the hub protocol, each with its spelling (the table at the head of Reference/AzureNotificationHubs.md, and
/// Reference/AzureNotificationHubs.md#1-3).
enum HubClient: String, Sendable, CaseIterable {
    case dotNet, java, javaScript, nodeLegacy, appleLegacy, apple, androidLegacy, android, go, php, ruby, python

    /// The version that it names in its queries (Reference/AzureNotificationHubs.md#2-0).
    var version: String {
        switch self {
        case .dotNet, .java, .javaScript, .apple, .android, .ruby: "2020-06"
        case .nodeLegacy: "2016-07"
        case .appleLegacy: "2013-04"
        case .androidLegacy: "2014-09"
        case .go: "2015-01"
        case .php: "2013-08"
        case .python: "2015-04"
        }
    }

    /// The headers that it sends with every request (Reference/AzureNotificationHubs.md#2-0), besides those of the operation.
    var fixedHeaders: [(name: String, value: String)] {
        switch self {
        case .dotNet: [("User-Agent", "NHub/2020-06 (api-origin=DotNetSdk;os=Unix;os-version=6.1)")]
        case .java: [("User-Agent", "NHub/2020-06 (api-origin=JavaSDK;os=Linux;os-version=6.1)")]
        case .javaScript:
            [
                ("x-ms-version", "2020-06"), ("x-ms-azsdk-telemetry", "class=NotificationHubsClient;method=any"),
                ("User-Agent", "azsdk-js-notificationhubs/1.2.3 core-rest-pipeline/1.19.0 Node/22.1.0 OS/(x64-Linux-6.1)"),
            ]
        case .appleLegacy: [("User-Agent", "NOTIFICATIONHUBS/2013-04(api-origin=IosSdk; os=iOS; os_version=18.1;)")]
        case .apple: [("x-ms-version", "2020-06"), ("User-Agent", "NOTIFICATIONHUBS/2020-06 (api-origin=IosSdkV3.1.5; os=iOS;)")]
        case .android:
            [
                ("x-ms-version", "2020-06"),
                ("User-Agent", "NOTIFICATIONHUBS/2020-06 (api-origin=AndroidSdkV1FcmV1.1.4; os=Android; 34)"),
            ]
        case .androidLegacy: [("User-Agent", "NOTIFICATIONHUBS/2014-09 (api-origin=AndroidSdk; os=Android; 30)")]
        case .php: [("x-ms-version", "2013-08"), ("Accept", "*/*")]
        case .nodeLegacy, .go, .ruby, .python: []
        }
    }
}
