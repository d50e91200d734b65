// What Apple's Foundation has and the one of Linux has not, for checks only; written from Apple's documentation.
@_exported import Foundation

#if canImport(FoundationNetworking)
    @_exported import FoundationNetworking
#endif

/// What a test decides of the surroundings.
///
/// `@unchecked` is safe: what changes is only touched inside the lock.
public final class FakeSurroundings: @unchecked Sendable {
    public static let shared = FakeSurroundings()

    private let lock = NSLock()
    private var groups: [String: URL] = [:]
    private var isLowPower = false
    private var backgroundIdentifiers: [String] = []
    private var container: String?

    public func setGroups(_ groups: [String: URL]) { lock.withLock { self.groups = groups } }
    public func setLowPower(_ isLowPower: Bool) { lock.withLock { self.isLowPower = isLowPower } }
    public func group(_ identifier: String) -> URL? { lock.withLock { groups[identifier] } }
    public var lowPower: Bool { lock.withLock { isLowPower } }
    public var backgroundSessions: [String] { lock.withLock { backgroundIdentifiers } }
    /// The shared container of the newest session configuration that was given one.
    public var sharedContainer: String? { lock.withLock { container } }
    public func noteContainer(_ container: String?) { lock.withLock { self.container = container } }
    func noteBackgroundSession(_ identifier: String) { lock.withLock { backgroundIdentifiers.append(identifier) } }
}

extension FileManager {
    public func containerURL(forSecurityApplicationGroupIdentifier groupIdentifier: String) -> URL? {
        FakeSurroundings.shared.group(groupIdentifier)
    }
}

extension ProcessInfo {
    public var isLowPowerModeEnabled: Bool { FakeSurroundings.shared.lowPower }
}

extension URL {
    public func startAccessingSecurityScopedResource() -> Bool { true }
    public func stopAccessingSecurityScopedResource() {}
}

extension URLResourceValues {
    public var isExcludedFromBackup: Bool? {
        get { nil }
        set {}
    }
}

/// The settings of transfers in the background. On Linux some of it can only be read, and an extension of Foundation's
/// class could not change that, so it is a class of its own.
public final class FakeURLSessionConfiguration {
    public var sessionSendsLaunchEvents = false
    public var isDiscretionary = false
    public var httpCookieStorage: HTTPCookieStorage?
    public var urlCache: URLCache?
    public var sharedContainerIdentifier: String? {
        didSet { FakeSurroundings.shared.noteContainer(sharedContainerIdentifier) }
    }
}

extension URLSessionConfiguration {
    /// Real transfers in the background need Apple's system; this one transfers while the process runs.
    public class func background(withIdentifier identifier: String) -> FakeURLSessionConfiguration {
        FakeSurroundings.shared.noteBackgroundSession(identifier)
        return FakeURLSessionConfiguration()
    }
}

extension URLSession {
    public convenience init(
        configuration: FakeURLSessionConfiguration, delegate: (any URLSessionDelegate)?, delegateQueue: OperationQueue?
    ) {
        let real = URLSessionConfiguration.ephemeral
        real.httpCookieStorage = configuration.httpCookieStorage
        real.urlCache = configuration.urlCache
        self.init(configuration: real, delegate: delegate, delegateQueue: delegateQueue)
    }
}

extension URLRequest {
    /// There is one network here; a server sees in the head of a request where it may not go.
    public var allowsConstrainedNetworkAccess: Bool {
        get { value(forHTTPHeaderField: "x-spares-constrained") == nil }
        set { setValue(newValue ? nil : "yes", forHTTPHeaderField: "x-spares-constrained") }
    }

    public var allowsExpensiveNetworkAccess: Bool {
        get { value(forHTTPHeaderField: "x-spares-expensive") == nil }
        set { setValue(newValue ? nil : "yes", forHTTPHeaderField: "x-spares-expensive") }
    }
}

/// Apple's session delegate has this call; on Linux a test makes it.
public protocol BackgroundEventsHearing {
    func urlSessionDidFinishEvents(forBackgroundURLSession session: URLSession)
}
