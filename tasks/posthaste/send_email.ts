export { sendEmail as default } from "posthaste";
