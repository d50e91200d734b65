// A stand-in for checks on Linux, written from Apple's documentation; not Apple's code.
@_exported import AppleFoundationShims
import Synchronization

public protocol ActivityAttributes: Decodable, Encodable {
    associatedtype ContentState: Decodable, Encodable, Hashable
}

public struct ActivityContent<State> where State: Decodable, State: Encodable, State: Hashable {
    public let state: State
    public let staleDate: Date?
    public let relevanceScore: Double

    public init(state: State, staleDate: Date?, relevanceScore: Double = 0.0) {
        (self.state, self.staleDate, self.relevanceScore) = (state, staleDate, relevanceScore)
    }
}

extension ActivityContent: Sendable where State: Sendable {}

public enum ActivityState: Sendable {
    case active, ended, dismissed, stale, pending
}

public struct ActivityUIDismissalPolicy: Sendable {
    public static let `default` = ActivityUIDismissalPolicy()
    public static let immediate = ActivityUIDismissalPolicy()
    public static func after(_ date: Date) -> Self { Self() }
}

public struct PushType: Sendable {
    public static var token: PushType { PushType() }
    public static func channel(_ name: String) -> PushType { PushType() }
}

/// What the system has of one type of attributes.
// `@unchecked` is safe: every reader and writer of a property holds the lock.
private final class FakeShelf<Attributes: ActivityAttributes>: @unchecked Sendable {
    let lock = NSLock()
    var activities: [Activity<Attributes>] = []
    var startToken: Data?
    var starts: [AsyncStream<Activity<Attributes>>.Continuation] = []
    var tokens: [AsyncStream<Data>.Continuation] = []
}

// `@unchecked` is safe: the lock guards the one property that changes.
private final class FakeShelves: @unchecked Sendable {
    static let all = FakeShelves()
    private let lock = NSLock()
    private var shelves: [ObjectIdentifier: AnyObject] = [:]

    func shelf<Attributes: ActivityAttributes>(of type: Attributes.Type) -> FakeShelf<Attributes> {
        lock.withLock {
            if let shelf = shelves[ObjectIdentifier(type)] as? FakeShelf<Attributes> { return shelf }
            let shelf = FakeShelf<Attributes>()
            shelves[ObjectIdentifier(type)] = shelf
            return shelf
        }
    }
}

public class Activity<Attributes>: Identifiable where Attributes: ActivityAttributes {
    public typealias ContentState = Attributes.ContentState

    public struct ActivityUpdates: AsyncSequence {
        public typealias Element = Activity<Attributes>
        public struct AsyncIterator: AsyncIteratorProtocol {
            var stream: AsyncStream<Activity<Attributes>>.Iterator
            public mutating func next() async -> Activity<Attributes>? { await stream.next() }
        }
        public func makeAsyncIterator() -> AsyncIterator {
            let (stream, continuation) = AsyncStream.makeStream(of: Activity<Attributes>.self)
            let shelf = FakeShelves.all.shelf(of: Attributes.self)
            shelf.lock.withLock { shelf.starts.append(continuation) }
            return AsyncIterator(stream: stream.makeAsyncIterator())
        }
    }

    /// A sequence of values, each of which Apple's has as a type of its own.
    public struct FakeUpdates<Element>: AsyncSequence {
        let stream: AsyncStream<Element>
        public struct AsyncIterator: AsyncIteratorProtocol {
            var stream: AsyncStream<Element>.Iterator
            public mutating func next() async -> Element? { await stream.next() }
        }
        public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(stream: stream.makeAsyncIterator()) }
    }

    public final let id: String
    public final let attributes: Attributes
    private let lock = NSLock()
    private var current: (content: ActivityContent<ContentState>, state: ActivityState, token: Data?)
    private var states: [AsyncStream<ActivityState>.Continuation] = []
    private var tokens: [AsyncStream<Data>.Continuation] = []
    private var contents: [AsyncStream<ActivityContent<ContentState>>.Continuation] = []

    /// An activity that the system shows, as after a start by push.
    public init(fake id: String, attributes: Attributes, state: ContentState) {
        (self.id, self.attributes) = (id, attributes)
        current = (ActivityContent(state: state, staleDate: nil), .active, nil)
    }

    public var content: ActivityContent<ContentState> { lock.withLock { current.content } }
    public var activityState: ActivityState { lock.withLock { current.state } }
    public var pushToken: Data? { lock.withLock { current.token } }

    public static var activities: [Activity<Attributes>] {
        let shelf = FakeShelves.all.shelf(of: Attributes.self)
        return shelf.lock.withLock { shelf.activities }
    }

    public static var activityUpdates: ActivityUpdates { ActivityUpdates() }

    public static var pushToStartToken: Data? {
        let shelf = FakeShelves.all.shelf(of: Attributes.self)
        return shelf.lock.withLock { shelf.startToken }
    }

    public static var pushToStartTokenUpdates: FakeUpdates<Data> {
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        let shelf = FakeShelves.all.shelf(of: Attributes.self)
        shelf.lock.withLock { shelf.tokens.append(continuation) }
        return FakeUpdates(stream: stream)
    }

    public var pushTokenUpdates: FakeUpdates<Data> {
        let (stream, continuation) = AsyncStream.makeStream(of: Data.self)
        lock.withLock { tokens.append(continuation) }
        return FakeUpdates(stream: stream)
    }

    public var activityStateUpdates: FakeUpdates<ActivityState> {
        let (stream, continuation) = AsyncStream.makeStream(of: ActivityState.self)
        lock.withLock { states.append(continuation) }
        return FakeUpdates(stream: stream)
    }

    public var contentUpdates: FakeUpdates<ActivityContent<ContentState>> {
        let (stream, continuation) = AsyncStream.makeStream(of: ActivityContent<ContentState>.self)
        lock.withLock { contents.append(continuation) }
        return FakeUpdates(stream: stream)
    }

    /// As an app starts one itself.
    public static func request(
        attributes: Attributes, content: ActivityContent<ContentState>, pushType: PushType? = nil
    ) throws -> Activity<Attributes> {
        let activity = Activity(fake: UUID().uuidString, attributes: attributes, state: content.state)
        fakeStart(activity)
        return activity
    }

    public func end(
        _ content: ActivityContent<ContentState>?, dismissalPolicy: ActivityUIDismissalPolicy = .default
    ) async { fake(state: .dismissed) }

    // What a test makes the system do.

    public static func fakeReset() {
        let shelf = FakeShelves.all.shelf(of: Attributes.self)
        shelf.lock.withLock { (shelf.activities, shelf.startToken, shelf.starts, shelf.tokens) = ([], nil, [], []) }
    }

    /// The system gives a start token; whether the app hears of it by itself.
    public static func fake(startToken: Data, isSaid: Bool = true) {
        let shelf = FakeShelves.all.shelf(of: Attributes.self)
        let readers = shelf.lock.withLock {
            shelf.startToken = startToken
            return isSaid ? shelf.tokens : []
        }
        for reader in readers { reader.yield(startToken) }
    }

    /// The system shows an activity; whether the app hears of it by itself.
    public static func fakeStart(_ activity: Activity<Attributes>, isSaid: Bool = true) {
        // Safe: `Activity` guards what changes with its lock; Apple's documentation does not call it Sendable.
        nonisolated(unsafe) let activity = activity
        let shelf = FakeShelves.all.shelf(of: Attributes.self)
        let readers = shelf.lock.withLock {
            shelf.activities.append(activity)
            return isSaid ? shelf.starts : []
        }
        for reader in readers { reader.yield(activity) }
    }

    public func fake(token: Data) {
        for reader in lock.withLock({
            current.token = token; return tokens
        }) { reader.yield(token) }
    }

    public func fake(content: ActivityContent<ContentState>) {
        // Safe: a value with two constants and an app's state, which is Sendable in every use.
        nonisolated(unsafe) let content = content
        for reader in lock.withLock({
            current.content = content; return contents
        }) { reader.yield(content) }
    }

    public func fake(state: ActivityState, staysListed: Bool = false) {
        for reader in lock.withLock({
            current.state = state; return states
        }) { reader.yield(state) }
        guard state == .dismissed, !staysListed else { return }
        let shelf = FakeShelves.all.shelf(of: Attributes.self)
        shelf.lock.withLock { shelf.activities.removeAll { $0.id == id } }
    }
}

public final class ActivityAuthorizationInfo {
    /// The two switches of the user, and who reads them.
    private struct FakeSwitches {
        static let all = Mutex(FakeSwitches())
        var isEnabled = true
        var isFrequent = false
        var readers: [AsyncStream<Bool>.Continuation] = []
    }

    public struct ActivityEnablementUpdates: AsyncSequence {
        public typealias Element = Bool
        public struct AsyncIterator: AsyncIteratorProtocol {
            var stream: AsyncStream<Bool>.Iterator
            public mutating func next() async -> Bool? { await stream.next() }
        }
        public func makeAsyncIterator() -> AsyncIterator {
            let (stream, continuation) = AsyncStream.makeStream(of: Bool.self)
            FakeSwitches.all.withLock { $0.readers.append(continuation) }
            return AsyncIterator(stream: stream.makeAsyncIterator())
        }
    }

    /// It says nothing, as some versions of the system do.
    public struct FrequentPushEnablementUpdates: AsyncSequence {
        public typealias Element = Bool
        public struct AsyncIterator: AsyncIteratorProtocol {
            var stream: AsyncStream<Bool>.Iterator
            public mutating func next() async -> Bool? { await stream.next() }
        }
        public func makeAsyncIterator() -> AsyncIterator {
            AsyncIterator(stream: AsyncStream<Bool> { _ in }.makeAsyncIterator())
        }
    }

    public init() {}

    public var areActivitiesEnabled: Bool { FakeSwitches.all.withLock { $0.isEnabled } }
    public var frequentPushesEnabled: Bool { FakeSwitches.all.withLock { $0.isFrequent } }
    public final var activityEnablementUpdates: ActivityEnablementUpdates { ActivityEnablementUpdates() }
    public final var frequentPushEnablementUpdates: FrequentPushEnablementUpdates { FrequentPushEnablementUpdates() }

    public static func fake(isEnabled: Bool, isFrequent: Bool) {
        let readers = FakeSwitches.all.withLock { switches in
            defer { (switches.isEnabled, switches.isFrequent) = (isEnabled, isFrequent) }
            return switches.isEnabled == isEnabled ? [] : switches.readers
        }
        for reader in readers { reader.yield(isEnabled) }
    }
}

#if SENDABLE_CLASSES
    // `@unchecked` is safe: the lock guards what changes.
    extension Activity: @unchecked Sendable {}
#endif
