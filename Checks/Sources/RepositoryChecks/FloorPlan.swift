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

    /// Every target that the plan names. What `allowedProducts` lists are products of other packages.
    var names: Set<String> {
        [neighbours, forbidden].reduce(into: Set(floors.keys).union(allowedProducts.keys)) { names, rules in
            for (target, others) in rules { names.formUnion(others.union([target])) }
        }
    }

    /// The plan of this product. Test targets are not in it: they may use everything.
    public static let clarion = FloorPlan(
        floors: [
            "RichPushModel": 0, "ServiceErrors": 0, "WireText": 0,
            "APNsProtocol": 1, "HubProtocol": 1, "NotificationTemplates": 1, "RichPushSealing": 1, "SharedAccess": 1,
            "TagExpressions": 1,
            "APNsEmulation": 2, "APNsHTTP2": 2, "AppBackend": 2, "PushHub": 2, "RichPushDevice": 2,
            "APNsDelivery": 3, "BackendHTTPAPI": 3, "ContentStorage": 3, "DeviceSimulation": 3, "HTTPService": 3,
            "HubHTTPAPI": 3, "PostgresDatabase": 3, "RemoteHub": 3, "SQLStorage": 3, "SQLiteDatabase": 3,
            "ServerObservability": 3, "RichPushApp": 3, "RichPushContentExtension": 3,
            "RichPushExtension": 3, "RichPushPlatform": 3, "RichPushUI": 3,
            "ClarionServer": 4, "SimulatedPhonePage": 4,
            "clarion": 5,
            "ClarionTesting": 6, "EngineTesting": 6, "StorageConformance": 6,
        ],
        neighbours: [
            "AppBackend": ["PushHub"], "BackendHTTPAPI": ["HTTPService"], "ClarionServer": ["SimulatedPhonePage"],
            "EngineTesting": ["ClarionTesting"],
            "HubHTTPAPI": ["HTTPService"], "PostgresDatabase": ["SQLStorage"],
            "RichPushApp": ["RichPushPlatform"], "RichPushContentExtension": ["RichPushPlatform"],
            "RichPushExtension": ["RichPushPlatform"], "RichPushUI": ["RichPushApp", "RichPushPlatform"],
            "SQLiteDatabase": ["SQLStorage"], "StorageConformance": ["ClarionTesting"], "WireText": ["RichPushModel"],
        ],
        allowedProducts: [
            "RichPushModel": [], "ServiceErrors": [], "TagExpressions": [], "NotificationTemplates": [], "WireText": [],
            "APNsProtocol": ["Crypto"], "SharedAccess": ["Crypto", "CryptoExtras"], "RichPushDevice": ["Crypto"],
            "RichPushSealing": ["Crypto"],
            "AppBackend": ["Crypto", "Logging"], "PushHub": ["Crypto", "Logging"],
        ],
        forbidden: [
            "APNsEmulation": ["APNsHTTP2"], "APNsHTTP2": ["APNsEmulation", "PushHub"],
            "PushHub": ["APNsProtocol"], "AppBackend": ["APNsProtocol"],
            "RichPushExtension": ["RichPushApp", "RichPushUI"], "RichPushContentExtension": ["RichPushApp", "RichPushUI"],
        ])
}
