// swift-tools-version: 6.2
// The server and everything that runs with it. One section per floor of Documentation/Modules.md, targets sorted by
// name, each followed by its tests. A target may depend on lower floors only; scripts/check-floors proves it.
import PackageDescription

let house: [SwiftSetting] = [
    .treatAllWarnings(as: .error),
    .enableUpcomingFeature("ExistentialAny"),
]

func target(_ name: String, _ dependencies: [Target.Dependency] = [], resources: [Resource] = []) -> Target {
    .target(name: name, dependencies: dependencies, resources: resources, swiftSettings: house)
}

/// - Parameter files: files and folders that are read by the tests where they lie, and are no part of the build.
func tests(
    _ name: String, _ dependencies: [Target.Dependency] = [], beside files: [String] = [], resources: [Resource] = []
) -> Target {
    .testTarget(name: name, dependencies: dependencies, exclude: files, resources: resources, swiftSettings: house)
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
        // For the measurements in Benchmarks.
        .library(name: "APNsHTTP2", targets: ["APNsHTTP2", "APNsProtocol"]),
        .library(
            name: "HubStorage", targets: ["PostgresDatabase", "PushHub", "SQLStorage", "SQLiteDatabase", "TagExpressions"]),
        // For Fuzzing: every target that reads untrusted bytes.
        .library(
            name: "Readers",
            targets: [
                "APNsEmulation", "APNsHTTP2", "APNsProtocol", "AppBackend", "BackendHTTPAPI", "ContentStorage", "HTTPService",
                "HubHTTPAPI", "HubProtocol", "NotificationTemplates", "PushHub", "ServiceErrors", "SharedAccess",
                "SimulatedPhonePage", "TagExpressions",
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
        .package(url: "https://github.com/hummingbird-project/hummingbird.git", exact: "2.28.1"),
        .package(url: "https://github.com/jpsim/Yams.git", exact: "6.2.2"),
        .package(url: "https://github.com/swift-server/async-http-client.git", exact: "1.37.0"),
        .package(url: "https://github.com/swift-server/swift-service-lifecycle.git", exact: "2.13.0"),
    ],
    targets: [
        // Floor 1: words, rules and signatures
        target("APNsProtocol", [.crypto, .richPushModel]),
        tests("APNsProtocolTests", ["APNsProtocol", "ClarionTesting", .crypto, .richPushModel]),
        target("HubProtocol", [.richPushModel]),
        tests("HubProtocolTests", ["HubProtocol", "ClarionTesting", .richPushModel]),
        target("NotificationTemplates", [.richPushModel]),
        tests("NotificationTemplatesTests", ["NotificationTemplates", "ClarionTesting", .richPushModel]),
        target("ServiceErrors"),
        target("SharedAccess", [.crypto, .cryptoExtras, .richPushModel]),
        tests("SharedAccessTests", ["SharedAccess", "ClarionTesting"]),
        target("TagExpressions", [.richPushModel]),
        tests("TagExpressionsTests", ["TagExpressions", "ClarionTesting", .richPushModel]),

        // Floor 2: what the product does, and the two ends of APNs
        target(
            "APNsEmulation",
            [
                "APNsProtocol", .crypto, .nioCore, .nioPosix, .nioSSL, .nioTLS, .nioHPACK, .nioHTTP2, .nioConcurrencyHelpers,
                .logging, .richPushModel, .x509,
            ]),
        tests(
            "APNsEmulationTests",
            [
                "APNsEmulation", "APNsProtocol", "ClarionTesting", .crypto, .logging, .nioCore, .nioConcurrencyHelpers,
                .nioEmbedded,
                .nioHPACK,
                .nioHTTP2, .nioPosix, .nioSSL, .richPushModel,
            ]),
        target(
            "APNsHTTP2",
            [
                "APNsProtocol", .crypto, .nioCore, .nioPosix, .nioSSL, .nioTLS, .nioConcurrencyHelpers, .logging, .richPushModel,
            ]),
        tests(
            "APNsHTTP2Tests",
            ["APNsHTTP2", "APNsProtocol", "ClarionTesting", .crypto, .logging, .nioCore, .nioConcurrencyHelpers, .nioEmbedded]),
        target("AppBackend", ["PushHub", "ServiceErrors", "SharedAccess", "TagExpressions", .crypto, .logging, .richPushModel]),
        tests(
            "AppBackendTests",
            [
                "AppBackend", "ClarionTesting", "ContentStorage", "EngineTesting", "PushHub", "ServiceErrors", "SharedAccess",
                "SQLStorage", "SQLiteDatabase", "TagExpressions", .logging, .richPushModel,
            ]),
        target(
            "PushHub",
            ["NotificationTemplates", "ServiceErrors", "SharedAccess", "TagExpressions", .crypto, .logging, .richPushModel]),
        tests(
            "PushHubTests",
            [
                "PushHub", "ClarionTesting", "NotificationTemplates", "ServiceErrors", "SharedAccess", "TagExpressions",
                .logging, .richPushModel,
            ]),

        // Floor 3: adapters
        target("APNsDelivery", ["APNsHTTP2", "APNsProtocol", "PushHub", .logging, .richPushModel]),
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
                .nioConcurrencyHelpers,
                .nioPosix, .nioSSL, .richPushModel, .x509,
            ], beside: ["Golden/decode.py"]),
        target(
            "BackendHTTPAPI",
            ["AppBackend", "HTTPService", "PushHub", "ServiceErrors", "SharedAccess", .hummingbird, .httpTypes, .richPushModel]),
        tests(
            "BackendHTTPAPITests",
            [
                "AppBackend", "BackendHTTPAPI", "ClarionTesting", "ContentStorage", "EngineTesting", "HTTPService", "PushHub",
                "SQLStorage",
                "SQLiteDatabase", "ServerObservability", "ServiceErrors", "SharedAccess", .hummingbirdTesting, .richPushModel,
            ]),
        target(
            "ContentStorage",
            [
                "AppBackend", "PushHub", "ServiceErrors", .asyncHTTPClient, .crypto, .nioCore, .nioConcurrencyHelpers, .nioPosix,
                .nioSSL, .richPushModel,
            ]),
        tests(
            "ContentStorageTests",
            [
                "AppBackend", "ContentStorage", "PushHub", "ServiceErrors", "StorageConformance", "ClarionTesting",
                .asyncHTTPClient, .nioCore, .nioConcurrencyHelpers, .nioHTTP1, .nioPosix, .richPushModel,
            ]),
        target("DeviceSimulation", [.asyncHTTPClient, .crypto, .nioCore, .logging, .richPushDevice, .richPushModel]),
        tests("DeviceSimulationTests", ["DeviceSimulation", "ClarionTesting"]),
        target(
            "HTTPService",
            [
                "ServiceErrors", .hummingbird, .hummingbirdCore, .hummingbirdHTTP2, .hummingbirdTLS, .httpTypes, .logging,
                .metrics,
                .nioCore, .nioConcurrencyHelpers, .nioHPACK, .nioHTTP1, .nioHTTP2, .nioPosix, .nioSSL, .nioTLS, .richPushModel,
            ]),
        tests(
            "HTTPServiceTests",
            [
                "HTTPService", "ServerObservability", "ClarionTesting", .hummingbirdTesting, .nioCore, .nioEmbedded, .nioHTTP1,
                .nioHTTP2, .nioPosix, .nioSSL, .x509, .crypto, .asyncHTTPClient,
            ]),
        target(
            "HubHTTPAPI",
            [
                "HTTPService", "HubProtocol", "NotificationTemplates", "PushHub", "ServiceErrors", "SharedAccess",
                "TagExpressions", .crypto, .hummingbird, .httpTypes, .logging, .nioCore, .nioPosix, .richPushModel,
            ]),
        tests(
            "HubHTTPAPITests",
            [
                "ContentStorage", "EngineTesting", "HTTPService", "HubHTTPAPI", "HubProtocol", "ClarionTesting", "PushHub",
                "SQLStorage",
                "SQLiteDatabase",
                "ServiceErrors", "SharedAccess", "TagExpressions", .httpTypes, .hummingbird, .hummingbirdTesting, .logging,
                .richPushModel,
            ], resources: [.copy("Recordings")]),
        target(
            "RemoteHub",
            [
                "HubProtocol", "PushHub", "ServiceErrors", "SharedAccess", "TagExpressions", .asyncHTTPClient, .crypto, .logging,
                .nioConcurrencyHelpers, .nioCore, .nioPosix, .nioSSL, .richPushModel, .richPushSealing,
            ]),
        tests(
            "RemoteHubTests",
            [
                "RemoteHub", "HubProtocol", "ClarionTesting", "PushHub", "ServiceErrors", "SharedAccess", "TagExpressions",
                .httpTypes, .hummingbird, .logging, .nioConcurrencyHelpers, .nioCore, .richPushModel, .richPushSealing,
            ]),
        target(
            "SQLStorage",
            [
                "AppBackend", "NotificationTemplates", "PushHub", "ServiceErrors", "SharedAccess", "TagExpressions", .crypto,
                .logging, .richPushModel,
            ]),
        target("PostgresDatabase", ["SQLStorage", .logging, .richPushModel]),
        tests(
            "PostgresDatabaseTests",
            [
                "AppBackend", "PostgresDatabase", "SQLStorage", "StorageConformance", "ClarionTesting", "EngineTesting",
                "PushHub", "TagExpressions",
                .crypto, .logging, .richPushModel, .x509,
            ], beside: ["Fixtures"]),
        target("SQLiteDatabase", ["ServiceErrors", "SQLStorage", .grdb, .grdbSQLite, .logging, .nioCore, .richPushModel]),
        tests(
            "SQLiteDatabaseTests",
            [
                "AppBackend", "SQLiteDatabase", "SQLStorage", "StorageConformance", "ClarionTesting", "EngineTesting",
                "NotificationTemplates", "PushHub", "ServiceErrors", "SharedAccess", "TagExpressions",
                .grdb, .grdbSQLite, .logging, .nioConcurrencyHelpers, .richPushModel,
            ], beside: ["Fixtures"]),
        target(
            "ServerObservability",
            [.coreMetrics, .hummingbird, .httpTypes, .logging, .metrics, .nioConcurrencyHelpers, .richPushModel]),
        tests("ServerObservabilityTests", ["ServerObservability", "ClarionTesting", .hummingbirdTesting]),

        // Floor 4: composition
        target(
            "ClarionServer",
            [
                "APNsDelivery", "APNsEmulation", "APNsHTTP2", "APNsProtocol", "AppBackend", "BackendHTTPAPI", "ContentStorage",
                "DeviceSimulation", "HTTPService", "HubHTTPAPI", "HubProtocol", "NotificationTemplates", "PushHub", "RemoteHub",
                "PostgresDatabase", "ServerObservability", "ServiceErrors", "SharedAccess", "SimulatedPhonePage", "SQLStorage",
                "SQLiteDatabase", "TagExpressions", .asyncHTTPClient, .crypto, .httpTypes, .hummingbird, .hummingbirdCore,
                .logging, .metrics,
                .nioCore, .nioPosix, .nioSSL, .richPushDevice, .richPushModel, .richPushSealing, .serviceLifecycle, .unixSignals,
                .x509, .yams,
            ], resources: [.embedInCode("Resources")]),
        tests(
            "ClarionServerTests",
            [
                "APNsEmulation", "APNsHTTP2", "APNsProtocol", "ClarionServer", "ClarionTesting", "HTTPService", "PushHub",
                "ServerObservability", "ServiceErrors", "SharedAccess", "SQLStorage", "SQLiteDatabase", .crypto, .grdb,
                .httpTypes, .hummingbird, .hummingbirdTesting, .logging, .nioConcurrencyHelpers, .nioPosix, .nioSSL,
                .richPushModel, .x509,
            ]),
        target(
            "SimulatedPhonePage",
            [
                "APNsProtocol", "DeviceSimulation", "HTTPService", "ServiceErrors", .hummingbird, .httpTypes, .nioCore, .nioPosix,
                .richPushModel, .serviceLifecycle,
            ],
            resources: [.embedInCode("Page")]),
        tests(
            "SimulatedPhonePageTests",
            [
                "SimulatedPhonePage", "DeviceSimulation", "HTTPService", "ServiceErrors", "ClarionTesting", .httpTypes,
                .hummingbird,
                .hummingbirdTesting, .logging, .richPushModel,
            ]),

        // Floor 5: the program
        .executableTarget(
            name: "clarion",
            dependencies: [
                "APNsEmulation", "AppBackend", "ClarionServer", "DeviceSimulation", "HubProtocol", "PushHub", "RemoteHub",
                "ServiceErrors", "SharedAccess", .argumentParser, .asyncHTTPClient, .logging, .nioCore, .nioPosix, .nioSSL,
                .richPushDevice, .richPushModel, .richPushSealing, .serviceLifecycle,
            ],
            swiftSettings: house),

        // For tests only
        target("ClarionTesting", ["SharedAccess", .logging, .richPushModel, .nioConcurrencyHelpers, .nioCore, .nioPosix]),
        target(
            "EngineTesting",
            ["ClarionTesting", "PostgresDatabase", "SQLStorage", "SQLiteDatabase", .logging, .richPushModel]),
        target(
            "StorageConformance",
            [
                "AppBackend", "ClarionTesting", "NotificationTemplates", "PushHub", "ServiceErrors", "SharedAccess",
                "TagExpressions", .nioConcurrencyHelpers, .richPushModel,
            ]),
        tests(
            "EndToEndTests",
            [
                "APNsEmulation", "AppBackend", "ClarionServer", "ClarionTesting", "ContentStorage", "DeviceSimulation",
                "HubProtocol",
                "PushHub", "RemoteHub",
                "SQLStorage", "SQLiteDatabase", "ServerObservability", "SharedAccess", "SimulatedPhonePage", .asyncHTTPClient,
                .logging, .nioCore, .nioHTTP1, .nioPosix, .nioSSL, .richPushDevice,
                .richPushModel,
            ]),
    ],
    swiftLanguageModes: [.v6]
)
