/// How much is remembered of one user's devices. What would be more is refused, because forgetting could end an access that was
/// promised; otherwise one user could make every question for their inbox as dear as they like.
public enum BindingLimits {
    /// Devices with their changes, for as long as notifications are kept that may have gone to them.
    public static let bindings = 2000
    /// Different tags: those that the devices have or had within the margin, and those that a stored notification names.
    public static let tags = 1000
    /// How long a tag that was taken off is remembered, whoever names it: a send may be on its way to its row.
    public static let margin: Duration = .seconds(3600)
    /// With more bindings than this within the margin no tag is forgotten, so that the look through them stays short.
    public static let bindingsWithinMargin = 200
}
