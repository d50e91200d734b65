import APNsProtocol

extension APNsClient {
    /// Sends doubtful pushes over the separate connection, the likelier ones first, and the others as always.
    func sendApart(_ pushes: [APNsPush], _ quarantine: APNsClient, _ lane: APNsSendLane) async -> [APNsOutcome] {
        let doubtful = pushes.indices.filter { pushes[$0].standing.isDoubtful }
            .sorted { (pushes[$1].standing, $0) < (pushes[$0].standing, $1) }
        let others = pushes.indices.filter { !pushes[$0].standing.isDoubtful }
        async let apart = quarantine.sendTogether(doubtful.map { pushes[$0] }, lane)
        async let together = sendTogether(others.map { pushes[$0] }, lane)
        var outcomes = Array(repeating: APNsOutcome.notSent(.cancelled), count: pushes.count)
        for (index, outcome) in zip(doubtful, await apart) { outcomes[index] = outcome }
        for (index, outcome) in zip(others, await together) { outcomes[index] = outcome }
        return outcomes
    }
}
