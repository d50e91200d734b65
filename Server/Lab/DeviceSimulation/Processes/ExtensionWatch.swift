import RichPushDevice

/// What is known of a running service extension. Of answer, deadline, memory and crash the first counts.
actor ExtensionWatch {
    nonisolated let ready = FirstResult<Bool>()
    nonisolated let end = FirstResult<ExtensionEnd>()
    /// The most that it grew by.
    private(set) var grownBytes: Int?
    private(set) var grownResidentBytes: Int?
    private var isTold = false
    private var answers = 0

    func tellOfEnd() { isTold = true }

    func grew(from base: ProcessMemory, to memory: ProcessMemory) {
        grownBytes = max(grownBytes ?? 0, memory.own - base.own)
        grownResidentBytes = max(grownResidentBytes ?? 0, memory.resident - base.resident)
    }

    /// Whether it was the first one. The system takes one content for a push; whoever hands over more has a mistake in it.
    func answer(_ content: NoticeContent) async -> Bool {
        answers += 1
        await end.resolve(ExtensionEnd(reason: isTold ? .expired : .answered, content: content, took: .zero))
        return answers == 1
    }

    func finish(_ reason: ExtensionEnd.Reason) async {
        await end.resolve(ExtensionEnd(reason: reason, took: .zero))
    }
}
