extension SQLStatement {
    /// Every statement of every store, for the tests that prepare each on each engine.
    public static func all(_ dialect: SQLDialect) -> [SQLStatement] {
        SchemaMigrator.statements + SchemaFence.all + AuditRows.all + SQLHubStore.all + SQLDeviceStore.all + DeviceRows.all
            + DeviceWriting.all
            + TemplateRows.all + [dialect.nextOrder]
            + DirectRows.all + ZoneRows.all + TranslationRows.all + RecipientRows.all + FrequencyCounts.all + GroupTallies.all
            + OutcomeReportRows.all
            + FeedbackRows.all + FailureRows.all
            + SQLIntakeStore.all
            + SQLSliceQueue.all(dialect) + SQLTelemetryStore.all + SQLJobStore.all(dialect)
            + SQLNodeStore.all(dialect) + SQLWaitRepair.all + SQLContentOwnerStore.all(dialect) + allOfBackend
            + (dialect == .sqlite ? DatabaseMove.statementsOfOld : DatabaseMove.statementsOfNew)
    }
}
