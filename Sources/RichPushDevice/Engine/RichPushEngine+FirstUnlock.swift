import RichPushModel

/// The time from a restart of the device to its first unlock, when who is signed in cannot be read.
///
/// A tap on a notification starts the app all the same, and the system hands it over once. It waits in memory for the unlock.
extension RichPushEngine {
    /// A person does not tap more often on a phone that is locked; the oldest go first.
    private static var waitingLimit: Int { 16 }

    /// The device was unlocked: to be called when protected data becomes available. `refresh` does the same.
    public func didUnlock() async {
        load()
        guard isLoaded else { return }
        let responses = waitingResponses
        waitingResponses = []
        for response in responses { await didRespond(response) }
        startRegistration()
        startFlush()
        startRevocation()
    }

    func keepForUnlock(_ response: NoticeResponse) async {
        waitingResponses.append(response)
        if waitingResponses.count > Self.waitingLimit { waitingResponses.removeFirst() }
        device.log.record(DeviceEvent(.ignored, response.richID, ["reason": "locked"]))
        if response.action != .dismiss {
            await app.router.show(OpenedContent(richID: response.richID, state: .missing(.storage(.locked))))
        }
    }
}
