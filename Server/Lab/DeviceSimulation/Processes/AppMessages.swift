import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// What the phone tells its app's process. The first line is its `ProcessSetup`.
enum ToApp: Codable, Sendable {
    case call(Int, AppCall)
    case answer(Int, Data)
}

/// What an app's process tells the phone.
enum FromApp: Codable, Sendable {
    case ready
    case event(DeviceEvent)
    case call(Int, SystemCall)
    case answer(Int, AppAnswer)
}

/// The functions of `AppRole` as values.
enum AppCall: Codable, Sendable {
    case session, start, didUnlock, signOut, inbox, refresh
    case didRegister(token: String)
    case didFailToRegister(reason: String)
    case signIn(user: String, password: String)
    case requestPermission(provisional: Bool)
    case setTags([String])
    case handleBackgroundPush(PushEnvelope, budget: Duration)
    case handleBackgroundRefresh(budget: Duration)
    case willPresent(ForegroundNotice)
    case didRespond(NoticeResponse)
    case didAnswerOffer(RichID, more: Bool)
    case show(RichID)
    case downloaded([InboxEntry])
    case downloadedContent(RichID)
    case sendPush(SendRequest?)
    /// The bytes lie in a file, which the app removes.
    case upload(URL, mediaType: String, fileName: String?)
}

/// What a function gave: JSON, or the error that it threw.
struct AppAnswer: Codable, Sendable {
    var value = Data()
    var error: RichPushError?
}

/// What an app asks of the system, as values. The answer is JSON.
enum SystemCall: Codable, Sendable {
    case present(LocalNotice)
    case removeDelivered([String])
    case removeAllDelivered, delivered, permission, registerForPush, appState, installationFacts, isSavingPower
    case scheduleRefresh(after: Duration)
    case setBadge(Int)
    case register([NoticeCategory])
    case requestPermission(provisional: Bool)
    case show(OpenedContent)
    case offer(ContentOffer)
}

/// In place of a value that there is none of.
struct Nothing: Codable, Sendable {}
