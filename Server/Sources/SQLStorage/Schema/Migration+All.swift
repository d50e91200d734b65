extension Migration {
    /// Every step, in order.
    ///
    /// What the first release has is step 1. A change after a release is a new step at the end; Documentation/Decisions/schema-steps.md
    /// says how to write one.
    public static let all: [Migration] = [
        .firstSchema
    ]
}
