package androidx.core.app;

import android.app.Notification;
import android.app.PendingIntent;
import android.content.Context;
import android.graphics.Bitmap;

public class NotificationCompat {
    public static final int PRIORITY_HIGH = 1;

    public abstract static class Style {
        final Notification notification = new Notification();
    }

    public static class BigTextStyle extends Style {
        public BigTextStyle bigText(CharSequence text) {
            notification.built.put("bigText", text);
            return this;
        }
    }

    public static class BigPictureStyle extends Style {
        public BigPictureStyle bigPicture(Bitmap picture) {
            notification.built.put("bigPicture", picture);
            return this;
        }

        public BigPictureStyle setContentDescription(CharSequence text) {
            notification.built.put("contentDescription", text);
            return this;
        }

        public BigPictureStyle setSummaryText(CharSequence text) { return this; }
    }

    public static class Builder {
        private final Notification notification = new Notification();

        public Builder(Context context, String channel) {}

        private Builder with(String name, Object value) {
            notification.built.put(name, value);
            return this;
        }

        public Builder setSmallIcon(int icon) { return with("smallIcon", icon); }

        public Builder setContentTitle(CharSequence title) { return with("contentTitle", title); }

        public Builder setContentText(CharSequence text) { return with("contentText", text); }

        public Builder setSubText(CharSequence text) { return with("subText", text); }

        public Builder setGroup(String key) { return with("group", key); }

        public Builder setSilent(boolean isSilent) { return with("silent", isSilent); }

        public Builder setNumber(int number) { return with("number", number); }

        public Builder setPriority(int priority) { return with("priority", priority); }

        public Builder setOnlyAlertOnce(boolean isOnce) { return with("onlyAlertOnce", isOnce); }

        public Builder setAutoCancel(boolean isCancelled) { return with("autoCancel", isCancelled); }

        public Builder setContentIntent(PendingIntent intent) { return with("contentIntent", intent); }

        public Builder setLargeIcon(Bitmap picture) { return with("largeIcon", picture); }

        public Builder setStyle(Style style) {
            notification.built.putAll(style.notification.built);
            return this;
        }

        public Notification build() { return notification; }
    }
}
