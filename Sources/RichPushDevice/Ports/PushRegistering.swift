/// Asks the system for a device token. The answer comes later, to `RichPushEngine.didRegister(token:)`; asking needs no
/// permission and is done at every launch.
public protocol PushRegistering: Sendable {
    func registerForPush() async
}
