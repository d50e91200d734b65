import RichPushDevice

/// What is known of a running service extension. Of answer, deadline, memory and crash the first counts.
actor ExtensionWatch {
    nonisolated let ready = FirstResult<Bool>()
    nonisolated let end = FirstResult<ExtensionEnd>()
    /// The most that it grew by.
    private(set) var grownBytes: Int?
    private(set) var grownResidentBytes: Int?
    private var isTold = false

    func tellOfEnd() { isTold = true }

    func grew(from base: ProcessMemory, to memory: ProcessMemory) {
        grownBytes = max(grownBytes ?? 0, memory.own - base.own)
        grownResidentBytes = max(grownResidentBytes ?? 0, memory.resident - base.resident)
    }

    func answer(_ content: NoticeContent) async {
        await end.resolve(ExtensionEnd(reason: isTold ? .expired : .answered, content: content, took: .zero))
    }

    func finish(_ reason: ExtensionEnd.Reason) async {
        await end.resolve(ExtensionEnd(reason: reason, took: .zero))
    }
}
