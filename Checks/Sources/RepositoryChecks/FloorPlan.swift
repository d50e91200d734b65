/// Which target stands on which floor (Documentation/Modules.md). A target may use lower floors, and on its own floor only what is
/// named here.
public struct FloorPlan: Sendable {
    let floors: [String: Int]
    /// Pairs on one floor: the first may use the second.
    let neighbours: [String: Set<String>]
    /// Targets with a rule about foreign packages: the only products that they may use.
    let allowedProducts: [String: Set<String>]
    /// Targets that may never meet, whatever the floors say.
    let forbidden: [String: Set<String>]
    /// Uses between folders of one module that `FolderCheck` lets pass although they close a circle. One that no circle needs is a
    /// finding, so the list stays as small as it can be.
    var folderCircles: Set<FolderUse> = []
    /// How many targets of the project one target may use.
    static let useLimit = 18
    /// Targets on this floor are only there for tests.
    static let testSupportFloor = 6

    /// Every target that the plan names. What `allowedProducts` lists are products of other packages.
    var names: Set<String> {
        [neighbours, forbidden].reduce(into: Set(floors.keys).union(allowedProducts.keys)) { names, rules in
            for (target, others) in rules { names.formUnion(others.union([target])) }
        }
    }

    /// How many targets of the project a target uses.
    func useCount(of target: PackageManifest.Target) -> Int {
        Set(target.dependencies.map(\.name)).count { floors[$0] != nil }
    }

    /// The plan of this product. Test targets are not in it: they may use everything.
    public static let clarion = FloorPlan(
        floors: [
            "RichPushModel": 0, "ServiceErrors": 0, "WireText": 0,
            "APNsProtocol": 1, "AuditTrail": 1, "CalendarTime": 1, "FCMProtocol": 1, "HubProtocol": 1, "LocalCertificates": 1,
            "LongWork": 1, "NotificationTemplates": 1,
            "RichPushSealing": 1, "SharedAccess": 1, "TagExpressions": 1, "TrustedIssuers": 1, "WebPushProtocol": 1,
            "APNsEmulation": 2, "APNsHTTP2": 2, "AppBackend": 2, "FCMEmulation": 2, "PushHub": 2, "RichPushDevice": 2,
            "ServiceEmulation": 2, "WebPushEmulation": 2,
            "APNsDelivery": 3, "BackendHTTPAPI": 3, "ConsolePage": 3, "ContentStorage": 3, "DeviceSimulation": 3,
            "FCMDelivery": 3, "HTTPService": 3, "WebLibrary": 3, "WebPushDelivery": 3,
            "HubHTTPAPI": 3, "PostgresDatabase": 3, "RemoteHub": 3, "SQLStorage": 3, "SQLiteDatabase": 3,
            "ServerObservability": 3, "RichPushApp": 3, "RichPushContentExtension": 3,
            "RichPushActivities": 3, "RichPushExtension": 3, "RichPushPlatform": 3, "RichPushUI": 3,
            "CommandLineSupport": 4, "FCMAdministration": 4, "LabServices": 4, "ServerComposition": 4, "ServerDelivery": 4,
            "ServerOperations": 4,
            "ServerSettings": 4, "ServerStorage": 4, "SimulatedPhonePage": 4,
            "clarion": 5, "clarion-lab": 5,
            "ClarionTesting": 6, "EngineTesting": 6, "StorageConformance": 6,
        ],
        neighbours: [
            "APNsEmulation": ["ServiceEmulation"], "AppBackend": ["PushHub"], "FCMEmulation": ["ServiceEmulation"],
            "BackendHTTPAPI": ["ConsolePage", "HTTPService", "WebLibrary"],
            "ConsolePage": ["HTTPService"],
            "CommandLineSupport": ["ServerSettings"],
            "EngineTesting": ["ClarionTesting"],
            "HubHTTPAPI": ["HTTPService"], "PostgresDatabase": ["SQLStorage"],
            "LabServices": ["ServerComposition", "ServerSettings", "ServerStorage", "SimulatedPhonePage"],
            "RichPushActivities": ["RichPushPlatform"], "RichPushApp": ["RichPushPlatform"],
            "RichPushContentExtension": ["RichPushPlatform"],
            "RichPushExtension": ["RichPushPlatform"], "RichPushUI": ["RichPushApp", "RichPushPlatform"],
            "ServerComposition": ["ServerDelivery", "ServerSettings", "ServerStorage"], "ServerDelivery": ["ServerSettings"],
            "ServerOperations": ["ServerDelivery", "ServerSettings", "ServerStorage"],
            "ServerStorage": ["ServerDelivery", "ServerSettings"],
            "SQLiteDatabase": ["SQLStorage"], "StorageConformance": ["ClarionTesting"], "WebLibrary": ["HTTPService"],
            "WebPushEmulation": ["ServiceEmulation"], "WebPushProtocol": ["SharedAccess"],
            "WireText": ["RichPushModel"],
        ],
        allowedProducts: [
            "RichPushModel": [], "ServiceErrors": [], "TagExpressions": [], "NotificationTemplates": [], "WireText": [],
            "APNsProtocol": ["Crypto"], "AuditTrail": ["Crypto"], "CalendarTime": [],
            "FCMProtocol": ["Crypto", "CryptoExtras"], "LocalCertificates": ["Crypto", "NIOCore", "X509"],
            "LongWork": [],
            "SharedAccess": ["Crypto", "CryptoExtras"], "TrustedIssuers": ["Crypto", "JWTKit", "Logging"],
            "RichPushDevice": ["Crypto"], "RichPushSealing": ["Crypto"],
            "AppBackend": ["Crypto", "Logging"], "PushHub": ["Crypto", "Logging"], "WebPushProtocol": ["Crypto"],
        ],
        forbidden: [
            "APNsEmulation": ["APNsHTTP2"], "APNsHTTP2": ["APNsEmulation", "PushHub"],
            "FCMEmulation": ["FCMProtocol"], "PushHub": ["APNsProtocol"], "AppBackend": ["APNsProtocol"],
            "RichPushExtension": ["RichPushApp", "RichPushUI"], "RichPushContentExtension": ["RichPushApp", "RichPushUI"],
        ])
}
