import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The system's services as an app in a process of its own sees them: each call goes to the phone and waits for its answer.
actor SystemCaller {
    private let channel: LineChannel
    private var waiting: [Int: FirstResult<Data>] = [:]
    private var last = 0

    init(_ channel: LineChannel) { self.channel = channel }

    func resolve(_ number: Int, _ answer: Data) async { await waiting.removeValue(forKey: number)?.resolve(answer) }

    /// A phone that is gone ends this process, so an answer comes or nobody needs it.
    @discardableResult
    private func ask(_ call: SystemCall) async -> Data {
        last += 1
        let number = last
        let answer = FirstResult<Data>()
        waiting[number] = answer
        guard channel.send(FromApp.call(number, call)) else {
            waiting[number] = nil
            return Data()
        }
        return await answer.value
    }

    private func ask<Value: Decodable>(_ call: SystemCall, or other: Value) async -> Value {
        (try? JSONDecoder().decode(Value.self, from: await ask(call))) ?? other
    }
}

extension SystemCaller: NotificationPresenting {
    func present(_ notice: LocalNotice) async throws(PresentationError) {
        let error: PresentationError? = await ask(.present(notice), or: .failed)
        if let error { throw error }
    }

    func removeDelivered(_ identifiers: [String]) async { await ask(.removeDelivered(identifiers)) }

    func removeAllDelivered() async { await ask(.removeAllDelivered) }

    func delivered() async -> [DeliveredNotice] { await ask(.delivered, or: []) }

    func setBadge(_ count: Int) async { await ask(.setBadge(count)) }

    func register(_ categories: [NoticeCategory]) async { await ask(.register(categories)) }

    func permission() async -> NoticePermission { await ask(.permission, or: .denied) }

    func requestPermission(provisional: Bool) async -> NoticePermission {
        await ask(.requestPermission(provisional: provisional), or: .denied)
    }
}

extension SystemCaller: PushRegistering {
    func registerForPush() async { await ask(.registerForPush) }
}

extension SystemCaller: AppEnvironment {
    func appState() async -> AppState { await ask(.appState, or: .background) }

    func isSavingPower() async -> Bool { await ask(.isSavingPower, or: false) }

    func installationFacts() async -> InstallationFacts { await ask(.installationFacts, or: InstallationFacts(bundleID: "")) }
}

extension SystemCaller: BackgroundScheduling {
    func scheduleRefresh(after pause: Duration) async { await ask(.scheduleRefresh(after: pause)) }
}

extension SystemCaller: ContentRouting {
    func show(_ content: OpenedContent) async { await ask(.show(content)) }

    func offer(_ offer: ContentOffer) async { await ask(.offer(offer)) }
}
