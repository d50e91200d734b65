package androidx.core.app;

import android.app.Notification;
import android.content.Context;
import java.util.Map;
import java.util.TreeMap;

/** With what is on the screen, by tag and number. */
public final class NotificationManagerCompat {
    public static final int IMPORTANCE_HIGH = 4;
    public static final Map<String, Notification> SCREEN = new TreeMap<>();
    /** How often something was shown. */
    public static int count;
    public static boolean isAllowed = true;

    private NotificationManagerCompat() {}

    public static NotificationManagerCompat from(Context context) { return new NotificationManagerCompat(); }

    public boolean areNotificationsEnabled() { return isAllowed; }

    public void createNotificationChannel(NotificationChannelCompat channel) {}

    public void notify(String tag, int id, Notification notification) {
        count++;
        SCREEN.put(tag + " " + id, notification);
    }

    public void cancelAll() { SCREEN.clear(); }
}
