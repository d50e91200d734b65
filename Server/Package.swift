// swift-tools-version: 6.2
// The server and everything that runs with it, in two wings: the product in Sources, and in Lab what stands in for the services and
// devices of others. One section per floor of Documentation/Modules.md, targets sorted by name, each followed by its tests. A target
// may depend on lower floors only, and a target of the product on none of the lab; scripts/check-floors proves it.
import PackageDescription

let house: [SwiftSetting] = [.treatAllWarnings(as: .error), .enableUpcomingFeature("ExistentialAny")]
/// Test code is compiled once for each run of CI: optimizing it takes as long again, and a job for its module reads it twice.
let testSettings = house + [.unsafeFlags(["-Onone", "-no-emit-module-separately-wmo"])]

/// - Parameter files: files and folders that lie beside the code, and are no part of the build.
func target(
    _ name: String, _ dependencies: [Target.Dependency] = [], beside files: [String] = [], resources: [Resource] = [],
    settings: [SwiftSetting] = house
) -> Target {
    .target(name: name, dependencies: dependencies, exclude: files, resources: resources, swiftSettings: settings)
}

/// A target of the lab.
func lab(_ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = []) -> Target {
    .target(name: name, dependencies: dependencies, path: "Lab/\(name)", resources: resources, swiftSettings: house)
}

/// - Parameter files: files and folders that are read by the tests where they lie, and are no part of the build.
func tests(
    _ name: String, _ dependencies: [Target.Dependency] = [], beside files: [String] = [], resources: [Resource] = []
) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: files, resources: resources, swiftSettings: testSettings)
}

/// Tests of the SDK, by a link to its folder. Beside the server's they share its build; the SDK's own package has them as well.
func sdkTests(_ name: String, _ dependencies: [Target.Dependency]) -> Target {
    .testTarget(name: name, dependencies: dependencies, path: "Tests/SDK/\(name)", swiftSettings: testSettings)
}

extension Target.Dependency {
    static let richPushModel = product(name: "RichPushModel", package: "clarion")
    static let richPushSealing = product(name: "RichPushSealing", package: "clarion")
    static let richPushDevice = product(name: "RichPushDevice", package: "clarion")

    static let argumentParser = product(name: "ArgumentParser", package: "swift-argument-parser")
    static let asyncHTTPClient = product(name: "AsyncHTTPClient", package: "async-http-client")
    static let coreMetrics = product(name: "CoreMetrics", package: "swift-metrics")
    static let crypto = product(name: "Crypto", package: "swift-crypto")
    static let cryptoExtras = product(name: "CryptoExtras", package: "swift-crypto")
    static let grdb = product(name: "GRDB", package: "GRDB.swift")
    static let grdbSQLite = product(name: "GRDBSQLite", package: "GRDB.swift")
    static let httpTypes = product(name: "HTTPTypes", package: "swift-http-types")
    static let hummingbird = product(name: "Hummingbird", package: "hummingbird")
    static let hummingbirdHTTP2 = product(name: "HummingbirdHTTP2", package: "hummingbird")
    static let hummingbirdTLS = product(name: "HummingbirdTLS", package: "hummingbird")
    static let hummingbirdCore = product(name: "HummingbirdCore", package: "hummingbird")
    static let hummingbirdTesting = product(name: "HummingbirdTesting", package: "hummingbird")
    static let jwtKit = product(name: "JWTKit", package: "jwt-kit")
    static let logging = product(name: "Logging", package: "swift-log")
    static let metrics = product(name: "Metrics", package: "swift-metrics")
    static let nioCore = product(name: "NIOCore", package: "swift-nio")
    static let nioConcurrencyHelpers = product(name: "NIOConcurrencyHelpers", package: "swift-nio")
    static let nioEmbedded = product(name: "NIOEmbedded", package: "swift-nio")
    static let nioHTTP1 = product(name: "NIOHTTP1", package: "swift-nio")
    static let nioHPACK = product(name: "NIOHPACK", package: "swift-nio-http2")
    static let nioHTTP2 = product(name: "NIOHTTP2", package: "swift-nio-http2")
    static let nioPosix = product(name: "NIOPosix", package: "swift-nio")
    static let nioSSL = product(name: "NIOSSL", package: "swift-nio-ssl")
    static let nioTLS = product(name: "NIOTLS", package: "swift-nio")
    static let nioWebSocket = product(name: "NIOWebSocket", package: "swift-nio")
    static let serviceLifecycle = product(name: "ServiceLifecycle", package: "swift-service-lifecycle")
    static let unixSignals = product(name: "UnixSignals", package: "swift-service-lifecycle")
    static let x509 = product(name: "X509", package: "swift-certificates")
    static let yams = product(name: "Yams", package: "Yams")
}

let package = Package(
    name: "clarion-server",
    platforms: [.macOS(.v15)],
    products: [
        .executable(name: "clarion", targets: ["clarion"]),
        .executable(name: "clarion-lab", targets: ["clarion-lab"]),
        // For the measurements in Benchmarks.
        .library(name: "APNsHTTP2", targets: ["APNsHTTP2", "APNsProtocol"]),
        .library(name: "Browsers", targets: ["ServerDelivery", "ServerSettings", "WebPushDelivery", "WebPushProtocol"]),
        .library(name: "FCM", targets: ["FCMDelivery", "FCMProtocol", "PushHub"]),
        .library(
            name: "HubStorage", targets: ["PostgresDatabase", "PushHub", "SQLStorage", "SQLiteDatabase", "TagExpressions"]),
        .library(
            name: "Access",
            targets: [
                "AppBackend", "AuditTrail", "ContentStorage", "PushHub", "SQLStorage", "SQLiteDatabase", "SharedAccess",
                "TrustedIssuers", "WebPushProtocol", "WireText",
            ]),
        // For Fuzzing: every target that reads untrusted bytes.
        .library(
            name: "Readers",
            targets: [
                "APNsEmulation", "APNsHTTP2", "APNsProtocol", "AppBackend", "BackendHTTPAPI", "ContentStorage", "HTTPService",
                "HubHTTPAPI", "HubProtocol", "NotificationTemplates", "PushHub", "ServiceErrors", "SharedAccess",
                "SimulatedPhonePage", "TagExpressions", "TrustedIssuers", "WireText",
            ]),
    ],
    // Exact versions; packages.tsv beside this file also lists what these depend on, and scripts/check-packages compares both with
    // what was resolved.
    dependencies: [
        .package(name: "clarion", path: ".."),
        .package(url: "https://github.com/apple/swift-argument-parser.git", exact: "1.8.2"),
        .package(url: "https://github.com/apple/swift-certificates.git", exact: "1.21.1"),
        .package(url: "https://github.com/apple/swift-crypto.git", exact: "4.5.2"),
        .package(url: "https://github.com/apple/swift-http-types.git", exact: "1.8.0"),
        .package(url: "https://github.com/apple/swift-log.git", exact: "1.16.2"),
        .package(url: "https://github.com/apple/swift-metrics.git", exact: "2.13.0"),
        .package(url: "https://github.com/apple/swift-nio.git", exact: "2.101.2"),
        .package(url: "https://github.com/apple/swift-nio-http2.git", exact: "1.46.0"),
        .package(url: "https://github.com/apple/swift-nio-ssl.git", exact: "2.37.6"),
        .package(url: "https://github.com/groue/GRDB.swift.git", exact: "7.10.0"),
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", exact: "2.28.1", traits: ["FullFoundation"]),
        .package(url: "https://github.com/jpsim/Yams.git", exact: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client.git", exact: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", exact: "2.13.0"),
        .package(url: "https://github.com/vapor/jwt-kit.git", exact: "5.7.1"),
    ],
    targets: [
        // Floor 1: words, rules and signatures
        target("APNsProtocol", ["WireText", .crypto, .richPushModel]),
        tests("APNsProtocolTests", ["APNsProtocol", "ClarionTesting", .crypto, .richPushModel]),
        target("AuditTrail", ["WireText", .crypto, .richPushModel]),
        tests("AuditTrailTests", ["AuditTrail", "ClarionTesting", .crypto, .richPushModel]),
        target("CalendarTime"),
        tests(
            "CalendarTimeTests", ["CalendarTime", "ClarionTesting"], beside: ["recurrences.py"],
            resources: [.copy("Recurrences.txt")]),
        target("FCMProtocol", ["WireText", .crypto, .cryptoExtras, .richPushModel]),
        tests("FCMProtocolTests", ["FCMProtocol", "ClarionTesting", "WireText", .crypto, .cryptoExtras, .richPushModel]),
        target("HubProtocol", ["WireText", .richPushModel]),
        tests("HubProtocolTests", ["HubProtocol", "ClarionTesting", "WireText", .richPushModel]),
        target("LocalCertificates", ["WireText", .crypto, .nioCore, .richPushModel, .x509]),
        tests("LocalCertificatesTests", ["LocalCertificates"]),
        target("LongWork", [.richPushModel]),
        tests("LongWorkTests", ["LongWork", "ClarionTesting"]),
        target("NotificationTemplates", ["WireText", .richPushModel]),
        tests("NotificationTemplatesTests", ["NotificationTemplates", "ClarionTesting", .richPushModel]),
        target("ServiceErrors"),
        target("SharedAccess", ["WireText", .crypto, .cryptoExtras, .richPushModel]),
        tests("SharedAccessTests", ["SharedAccess", "ClarionTesting", "WireText", .richPushModel]),
        target("TagExpressions", [.richPushModel]),
        tests("TagExpressionsTests", ["TagExpressions", "ClarionTesting", .richPushModel]),
        target("TrustedIssuers", ["WireText", .crypto, .jwtKit, .logging, .richPushModel]),
        tests(
            "TrustedIssuersTests",
            ["TrustedIssuers", "ClarionTesting", "WireText", .crypto, .cryptoExtras, .logging, .richPushModel]),
        target("WebPushProtocol", ["SharedAccess", "WireText", .crypto, .richPushModel]),
        tests("WebPushProtocolTests", ["WebPushProtocol", "ClarionTesting", "WireText", .crypto, .richPushModel]),
        target("WireText", [.richPushModel]),
        tests("WireTextTests", ["WireText", "ClarionTesting", .richPushModel]),

        // Floor 2: what the product does, and the two ends of APNs
        lab(
            "APNsEmulation",
            [
                "APNsProtocol", "LocalCertificates", "ServiceEmulation", "WireText", .crypto, .nioCore, .nioPosix, .nioSSL,
                .nioTLS, .nioHPACK, .nioHTTP2, .nioConcurrencyHelpers, .logging, .richPushModel, .x509,
            ]),
        tests(
            "APNsEmulationTests",
            [
                "APNsEmulation", "APNsProtocol", "ClarionTesting", "LocalCertificates", "ServiceEmulation", .crypto, .logging,
                .nioCore, .nioConcurrencyHelpers, .nioEmbedded, .nioHPACK, .nioHTTP2, .nioPosix, .nioSSL, .richPushModel,
            ]),
        target(
            "APNsHTTP2",
            [
                "APNsProtocol", "WireText", .crypto, .nioCore, .nioPosix, .nioSSL, .nioTLS, .nioConcurrencyHelpers, .logging,
                .richPushModel,
            ]),
        tests(
            "APNsHTTP2Tests",
            [
                "APNsHTTP2", "APNsProtocol", "ClarionTesting", .crypto, .logging, .nioCore, .nioConcurrencyHelpers,
                .nioEmbedded, .nioTLS, .richPushModel,
            ]),
        target(
            "AppBackend",
            [
                "AuditTrail", "CalendarTime", "PushHub", "ServiceErrors", "SharedAccess", "TagExpressions", "TrustedIssuers",
                "WebPushProtocol", "WireText", .crypto, .logging, .richPushModel,
            ]),
        tests(
            "AppBackendTests",
            [
                "AppBackend", "AuditTrail", "CalendarTime", "ClarionTesting", "ContentStorage", "EngineTesting", "PushHub",
                "ServiceErrors", "SharedAccess", "SQLStorage", "SQLiteDatabase", "StorageConformance", "TagExpressions",
                "TrustedIssuers", "WireText", .crypto, .logging, .richPushModel,
            ]),
        lab(
            "FCMEmulation",
            [
                "ServiceEmulation", "WireText", .crypto, .cryptoExtras, .logging, .nioCore, .nioHPACK, .nioHTTP1, .nioHTTP2,
                .nioSSL, .nioTLS, .richPushModel,
            ]),
        tests(
            "FCMEmulationTests",
            [
                "FCMEmulation", "ClarionTesting", "LocalCertificates", "WireText", .asyncHTTPClient, .crypto, .cryptoExtras,
                .logging, .nioCore, .nioHPACK, .nioHTTP2, .nioPosix, .nioSSL, .richPushModel,
            ]),
        target(
            "PushHub",
            [
                "AuditTrail", "FCMProtocol", "NotificationTemplates", "ServiceErrors", "SharedAccess", "TagExpressions",
                "WebPushProtocol", "WireText", .crypto, .logging, .richPushModel,
            ]),
        tests(
            "PushHubTests",
            [
                "PushHub", "ClarionTesting", "NotificationTemplates", "ServiceErrors", "SharedAccess", "TagExpressions",
                "WebPushProtocol", .logging, .richPushModel,
            ]),
        lab("ServiceEmulation", ["WireText", .nioCore, .nioHTTP1, .nioHTTP2, .nioPosix, .richPushModel]),
        lab(
            "WebPushEmulation",
            [
                "ServiceEmulation", "WebPushProtocol", "WireText", .crypto, .logging, .nioCore, .nioHTTP1, .nioHTTP2,
                .nioPosix, .nioSSL, .nioTLS, .nioWebSocket, .richPushModel,
            ]),
        tests(
            "WebPushEmulationTests",
            [
                "WebPushEmulation", "WebPushProtocol", "ClarionTesting", "WireText", .asyncHTTPClient, .crypto, .logging,
                .nioCore, .nioHTTP1, .nioPosix, .richPushModel,
            ]),

        // Floor 3: adapters
        target("APNsDelivery", ["APNsHTTP2", "APNsProtocol", "PushHub", "ServiceErrors", .logging, .richPushModel]),
        tests(
            "APNsDeliveryTests",
            [
                "APNsDelivery", "APNsHTTP2", "APNsProtocol", "ClarionTesting", "PushHub", .logging, .nioConcurrencyHelpers,
                .richPushModel,
            ]),
        tests(
            "APNsClientIntegrationTests",
            [
                "APNsEmulation", "APNsHTTP2", "APNsProtocol", "ClarionTesting", .crypto, .logging, .nioCore,
                .nioConcurrencyHelpers, .nioPosix, .nioSSL, .richPushModel, .x509,
            ], beside: ["Golden/decode.py"]),
        target(
            "BackendHTTPAPI",
            [
                "AuditTrail", "AppBackend", "ConsolePage", "HTTPService", "PushHub", "ServiceErrors", "SharedAccess",
                "TrustedIssuers", "WebLibrary", "WireText", .hummingbird, .httpTypes, .nioCore, .richPushModel, .yams,
            ], resources: [.embedInCode("APIPage")]),
        tests(
            "BackendHTTPAPITests",
            [
                "AppBackend", "BackendHTTPAPI", "ClarionTesting", "ContentStorage", "EngineTesting", "HTTPService", "PushHub",
                "SQLStorage", "SQLiteDatabase", "ServerObservability", "ServiceErrors", "SharedAccess", "TagExpressions",
                "TrustedIssuers", .hummingbirdTesting, .richPushModel,
            ]),
        target(
            "ConsolePage", ["HTTPService", "ServiceErrors", .hummingbird, .httpTypes, .nioCore], resources: [.embedInCode("Page")]
        ),
        target(
            "ContentStorage",
            [
                "AppBackend", "PushHub", "ServiceErrors", "WireText", .asyncHTTPClient, .crypto, .nioCore,
                .nioConcurrencyHelpers, .nioPosix, .nioSSL, .richPushModel,
            ]),
        tests(
            "ContentStorageTests",
            [
                "AppBackend", "ContentStorage", "PushHub", "ServiceErrors", "StorageConformance", "ClarionTesting", "WireText",
                .asyncHTTPClient, .nioCore, .nioConcurrencyHelpers, .nioHTTP1, .nioPosix, .richPushModel,
            ]),
        lab(
            "DeviceSimulation",
            ["FCMEmulation", .asyncHTTPClient, .crypto, .nioCore, .nioPosix, .logging, .richPushDevice, .richPushModel]),
        tests(
            "DeviceSimulationTests",
            ["DeviceSimulation", "FCMEmulation", "ClarionTesting", .crypto, .logging, .nioPosix, .richPushDevice, .richPushModel]),
        target("FCMDelivery", ["FCMProtocol", "PushHub", "WireText", .logging, .richPushModel]),
        tests(
            "FCMDeliveryTests",
            ["FCMDelivery", "FCMProtocol", "ClarionTesting", "PushHub", .cryptoExtras, .logging, .richPushModel]),
        target(
            "HTTPService",
            [
                "ServiceErrors", "WireText", .hummingbird, .hummingbirdCore, .hummingbirdHTTP2, .hummingbirdTLS, .httpTypes,
                .logging, .metrics, .nioCore, .nioConcurrencyHelpers, .nioHPACK, .nioHTTP1, .nioHTTP2, .nioPosix, .nioSSL,
                .nioTLS, .richPushModel,
            ]),
        tests(
            "HTTPServiceTests",
            [
                "HTTPService", "ServerObservability", "ServiceErrors", "ClarionTesting", "WireText", .hummingbirdTesting,
                .nioCore, .nioEmbedded, .nioHTTP1, .nioHTTP2, .nioPosix, .nioSSL, .x509, .crypto, .asyncHTTPClient,
                .richPushModel,
            ]),
        target(
            "HubHTTPAPI",
            [
                "AuditTrail", "HTTPService", "HubProtocol", "NotificationTemplates", "PushHub", "ServiceErrors", "SharedAccess",
                "TagExpressions", "WireText", .crypto, .hummingbird, .httpTypes, .logging, .nioCore, .nioPosix, .richPushModel,
            ]),
        tests(
            "HubHTTPAPITests",
            [
                "BackendHTTPAPI", "ContentStorage", "EngineTesting", "HTTPService", "HubHTTPAPI", "HubProtocol",
                "ClarionTesting", "PushHub", "SQLStorage", "SQLiteDatabase", "ServiceErrors", "SharedAccess", "TagExpressions",
                "WebPushProtocol", .httpTypes, .hummingbird, .hummingbirdTesting, .logging, .richPushModel,
            ], resources: [.copy("Recordings")]),
        target(
            "RemoteHub",
            [
                "HubProtocol", "PushHub", "ServiceErrors", "SharedAccess", "TagExpressions", "WireText", .asyncHTTPClient,
                .crypto, .logging, .nioConcurrencyHelpers, .nioCore, .nioPosix, .nioSSL, .richPushModel, .richPushSealing,
            ]),
        tests(
            "RemoteHubTests",
            [
                "RemoteHub", "HubProtocol", "ClarionTesting", "PushHub", "ServiceErrors", "SharedAccess", "TagExpressions",
                "WireText", .httpTypes, .hummingbird, .logging, .nioConcurrencyHelpers, .nioCore, .richPushModel,
                .richPushSealing,
            ]),
        target(
            "SQLStorage",
            [
                "AppBackend", "AuditTrail", "CalendarTime", "NotificationTemplates", "PushHub", "ServiceErrors", "SharedAccess",
                "TagExpressions", "TrustedIssuers", "WireText", .crypto, .logging, .richPushModel,
            ]),
        target("PostgresDatabase", ["SQLStorage", .logging, .richPushModel]),
        tests(
            "PostgresDatabaseTests",
            [
                "AppBackend", "PostgresDatabase", "SQLStorage", "StorageConformance", "ClarionTesting", "EngineTesting",
                "PushHub", "TagExpressions", .crypto, .logging, .richPushModel, .x509,
            ]),
        target("SQLiteDatabase", ["ServiceErrors", "SQLStorage", .grdb, .grdbSQLite, .logging, .nioCore, .richPushModel]),
        tests(
            "SQLiteDatabaseTests",
            [
                "AppBackend", "SQLiteDatabase", "SQLStorage", "StorageConformance", "ClarionTesting", "EngineTesting",
                "NotificationTemplates", "PushHub", "ServiceErrors", "SharedAccess", "TagExpressions", .grdb, .grdbSQLite,
                .logging, .nioConcurrencyHelpers, .richPushModel,
            ]),
        target(
            "ServerObservability",
            ["WireText", .coreMetrics, .hummingbird, .httpTypes, .logging, .metrics, .nioConcurrencyHelpers, .richPushModel]),
        tests("ServerObservabilityTests", ["ServerObservability", "ClarionTesting", .hummingbirdTesting, .richPushModel]),
        target(
            "WebLibrary", ["HTTPService", .hummingbird, .httpTypes], beside: ["Library"], resources: [.embedInCode("Served")]),
        target("WebPushDelivery", ["PushHub", "WebPushProtocol", "WireText", .logging, .richPushModel]),
        tests(
            "WebPushDeliveryTests",
            [
                "WebPushDelivery", "WebPushProtocol", "ClarionTesting", "PushHub", "SharedAccess", "WireText", .crypto,
                .logging, .richPushModel,
            ]),

        // Floor 4: composition
        target(
            "CommandLineSupport",
            ["SharedAccess", "LongWork", "ServerSettings", "ServiceErrors", .argumentParser, .richPushModel]),
        tests("CommandLineSupportTests", ["CommandLineSupport", "ServiceErrors", .argumentParser]),
        lab(
            "FCMAdministration",
            [
                "ConsolePage", "FCMEmulation", "HTTPService", "ServiceErrors", "WireText", .hummingbird, .httpTypes,
                .richPushModel,
            ],
            resources: [.embedInCode("Page")]),
        tests(
            "FCMAdministrationTests",
            [
                "FCMAdministration", "FCMEmulation", "ClarionTesting", "HTTPService", .httpTypes, .hummingbird,
                .hummingbirdTesting, .logging, .nioPosix, .richPushModel,
            ]),
        lab(
            "LabServices",
            [
                "APNsEmulation", "APNsHTTP2", "APNsProtocol", "AppBackend", "DeviceSimulation", "HTTPService",
                "LocalCertificates", "RemoteHub", "ServerComposition", "ServerSettings", "ServerStorage", "ServiceErrors",
                "SimulatedPhonePage", "SQLStorage", "SQLiteDatabase", .asyncHTTPClient, .crypto, .httpTypes, .hummingbird,
                .logging, .metrics, .nioCore, .nioPosix, .richPushDevice, .richPushModel, .richPushSealing, .serviceLifecycle,
            ], resources: [.embedInCode("Samples")]),
        tests(
            "LabServicesTests",
            [
                "APNsEmulation", "APNsProtocol", "ClarionTesting", "HTTPService", "LabServices", "ServerSettings",
                "ServiceErrors", "SQLiteDatabase", .httpTypes, .hummingbird, .hummingbirdTesting, .logging, .richPushModel,
            ]),
        target(
            "ServerComposition",
            [
                "APNsHTTP2", "APNsProtocol", "AppBackend", "BackendHTTPAPI", "HTTPService", "HubHTTPAPI", "LocalCertificates",
                "PushHub", "RemoteHub", "ServerDelivery", "ServerObservability", "ServerSettings", "ServerStorage",
                "ServiceErrors", "SharedAccess", "SQLStorage", "TrustedIssuers", .asyncHTTPClient, .httpTypes, .hummingbird,
                .hummingbirdCore, .logging, .metrics, .nioCore, .nioPosix, .nioSSL, .richPushModel, .serviceLifecycle,
                .unixSignals,
            ], resources: [.embedInCode("Resources")]),
        target(
            "ServerDelivery",
            [
                "APNsDelivery", "APNsHTTP2", "APNsProtocol", "FCMDelivery", "FCMProtocol", "PushHub", "ServerSettings",
                "ServiceErrors", "SharedAccess", "WebPushDelivery", "WebPushProtocol", .asyncHTTPClient, .crypto, .logging,
                .nioCore, .nioPosix, .nioSSL, .richPushModel, .x509,
            ]),
        target(
            "ServerOperations",
            [
                "AuditTrail", "APNsHTTP2", "APNsProtocol", "AppBackend", "ContentStorage", "FCMProtocol",
                "HubHTTPAPI", "LongWork", "PostgresDatabase", "PushHub", "ServerDelivery", "ServerSettings", "ServerStorage",
                "ServiceErrors", "SharedAccess", "SQLStorage", "SQLiteDatabase", .logging, .nioCore, .nioPosix, .richPushModel,
            ]),
        target(
            "ServerSettings",
            [
                "APNsHTTP2", "APNsProtocol", "AppBackend", "CalendarTime", "ContentStorage", "FCMProtocol", "HTTPService",
                "HubProtocol", "PostgresDatabase", "PushHub", "ServerObservability", "ServiceErrors", "SharedAccess",
                "TrustedIssuers", "WebPushProtocol", "WireText", .logging, .nioCore, .richPushModel, .yams,
            ]),
        target(
            "ServerStorage",
            [
                "AuditTrail", "AppBackend", "ContentStorage", "HTTPService", "LongWork", "PostgresDatabase", "PushHub",
                "ServerDelivery", "ServerObservability", "ServerSettings", "ServiceErrors", "SharedAccess", "SQLStorage",
                "SQLiteDatabase", "TrustedIssuers", .crypto, .logging, .metrics, .richPushModel,
            ]),
        tests(
            "ServerTests",
            [
                "APNsDelivery", "APNsEmulation", "APNsHTTP2", "APNsProtocol", "AppBackend", "ClarionTesting", "EngineTesting",
                "FCMDelivery", "FCMEmulation", "FCMProtocol", "HTTPService", "HubProtocol", "LocalCertificates", "LongWork",
                "PushHub", "ServerComposition", "ServerDelivery", "ServerObservability", "ServerOperations", "ServerSettings",
                "ServerStorage", "ServiceErrors", "SharedAccess", "SQLStorage", "SQLiteDatabase", "WebLibrary", "WebPushDelivery",
                "WebPushEmulation", "WebPushProtocol", "WireText", .asyncHTTPClient, .crypto, .cryptoExtras, .grdb, .httpTypes,
                .hummingbird, .hummingbirdTesting, .logging, .nioConcurrencyHelpers, .nioPosix, .nioSSL, .richPushModel, .x509,
            ]),
        lab(
            "SimulatedPhonePage",
            [
                "APNsProtocol", "ConsolePage", "DeviceSimulation", "HTTPService", "ServiceErrors", .hummingbird, .httpTypes,
                .nioCore, .nioPosix, .richPushModel, .serviceLifecycle,
            ],
            resources: [.embedInCode("Page")]),
        tests(
            "SimulatedPhonePageTests",
            [
                "SimulatedPhonePage", "DeviceSimulation", "HTTPService", "ServiceErrors", "ClarionTesting", .httpTypes,
                .hummingbird, .hummingbirdTesting, .logging, .richPushModel,
            ]),

        // Floor 5: the programs
        .executableTarget(
            name: "clarion",
            dependencies: [
                "AuditTrail", "AppBackend", "CommandLineSupport", "HTTPService", "HubProtocol", "PushHub", "RemoteHub",
                "ServerComposition", "ServerOperations", "ServerSettings", "ServiceErrors", "SharedAccess", "WebPushProtocol",
                "WireText", .argumentParser, .asyncHTTPClient, .nioCore, .nioHTTP1, .nioPosix, .nioSSL, .richPushModel,
                .richPushSealing,
            ],
            swiftSettings: house),
        .executableTarget(
            name: "clarion-lab",
            dependencies: [
                "SharedAccess", "CommandLineSupport", "DeviceSimulation", "FCMAdministration", "FCMEmulation", "LabServices",
                "LocalCertificates", "ServerSettings", "WebPushEmulation", .argumentParser, .logging, .nioPosix,
                .serviceLifecycle, .richPushDevice, .richPushModel,
            ],
            path: "Lab/clarion-lab", swiftSettings: house),

        // For tests only
        target(
            "ClarionTesting",
            [
                "SharedAccess", "TrustedIssuers", "WireText", .crypto, .logging, .richPushModel, .nioConcurrencyHelpers,
                .nioCore, .nioPosix,
            ], settings: testSettings),
        target(
            "EngineTesting", ["ClarionTesting", "PostgresDatabase", "SQLStorage", "SQLiteDatabase", .logging, .richPushModel],
            settings: testSettings),
        target(
            "StorageConformance",
            [
                "AuditTrail", "AppBackend", "CalendarTime", "ClarionTesting", "NotificationTemplates", "PushHub",
                "ServiceErrors", "SharedAccess", "TagExpressions", .nioConcurrencyHelpers, .richPushModel,
            ], settings: testSettings),
        tests(
            "EndToEndTests",
            [
                "APNsEmulation", "AppBackend", "ClarionTesting", "ContentStorage", "DeviceSimulation", "EngineTesting",
                "FCMEmulation", "HubProtocol", "LabServices", "LongWork", "PushHub", "RemoteHub", "ServerComposition",
                "ServerOperations", "ServerSettings", "ServerStorage", "ServiceErrors", "SQLStorage", "SQLiteDatabase",
                "ServerObservability", "SharedAccess", "SimulatedPhonePage", "WebPushEmulation", "WebPushProtocol", "WireText",
                .asyncHTTPClient, .logging, .nioCore, .nioHTTP1, .nioPosix, .nioSSL, .richPushDevice, .richPushModel,
            ]),
        sdkTests("RichPushDeviceTests", [.richPushDevice, .richPushModel, .richPushSealing]),
        sdkTests("RichPushModelTests", [.richPushModel]),
        sdkTests("RichPushSealingTests", [.richPushModel, .richPushSealing]),
    ],
    swiftLanguageModes: [.v6]
)
