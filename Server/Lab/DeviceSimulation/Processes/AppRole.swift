import RichPushDevice
import RichPushModel

#if canImport(FoundationEssentials)
    import FoundationEssentials
#else
    import Foundation
#endif

/// The app as the phone sees it: the real engine, in this process or in one of its own.
protocol AppRole: AnyObject, Sendable {
    var session: Session? { get async }
    func start() async
    func stop() async
    func didRegister(token: String) async
    func didFailToRegister(reason: String) async
    func didUnlock() async

    @discardableResult
    func signIn(user: String, password: String) async throws(RichPushError) -> Session
    func signOut() async throws(RichPushError) -> SignOutResult
    func requestPermission(provisional: Bool) async -> NoticePermission
    func setTags(_ tags: [String]) async throws(RichPushError)

    func handleBackgroundPush(_ envelope: PushEnvelope, budget: Duration) async -> BackgroundResult
    func handleBackgroundRefresh(budget: Duration) async -> Bool
    func willPresent(_ notice: ForegroundNotice) async -> PresentationOptions
    func didRespond(_ response: NoticeResponse) async
    func didAnswerOffer(of id: RichID, more: Bool) async

    func inbox() async throws(RichPushError) -> Inbox
    @discardableResult
    func refresh() async throws(RichPushError) -> Inbox
    func show(_ id: RichID) async
    func downloaded(among entries: [InboxEntry]) async -> Set<RichID>
    func downloadedContent(of id: RichID) async -> CachedContent?

    @discardableResult
    func sendPush(_ request: SendRequest?) async throws(RichPushError) -> RichID?
    func upload(_ content: Data, mediaType: String, fileName: String?) async throws(RichPushError) -> ContentAnswer
}

extension RichPushEngine: AppRole {}
