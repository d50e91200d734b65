extension Migration {
    /// Every step, in order.
    public static let all: [Migration] = [
        .hubTables,
        .backendTables,
        .retention,
        .pace,
        .hubRules,
        .hubProtocol,
        .jobs,
        .sealing,
        .addresses,
        .testSends,
        .nodes,
        .installationFacts,
        .hubTurns,
        .slices,
        .fence,
        .contentOwner,
        .deviceChanges,
        .writeTurns,
        .orderNumbers,
        .accessOrder,
        .failures,
        .signInCounts,
        .auditIndex,
        .sendLists,
    ]
}
