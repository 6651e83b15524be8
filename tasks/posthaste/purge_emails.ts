export { purgeEmails as default } from "posthaste";
