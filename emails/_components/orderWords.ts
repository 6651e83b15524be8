import { FRAME, type FrameWords } from "./words.ts";

/** What the confirmation of an order says, in one language. Sentences are whole: languages order their parts each in its own way. */
interface OrderWords {
  readonly frame: FrameWords;
  subject(number: string): string;
  preview(name: string): string;
  readonly reason: string;
  thanks(name: string): string;
  /** What stands before and after the order's number; its day may be missing. */
  packing(day: string | null): readonly [before: string, after: string];
  readonly view: string;
  readonly table: string;
  readonly columns: readonly [item: string, quantity: string, price: string];
  readonly discount: string;
  readonly delivery: string;
  readonly free: string;
  readonly total: string;
  readonly deliveryTo: string;
  readonly mistake: string;
}

export const ORDER_WORDS = {
  en: {
    frame: FRAME.en,
    subject: (number) => `Order ${number} is confirmed`,
    preview: (name) => `Thank you, ${name}. We are packing your order now.`,
    reason: "You get this mail because you ordered at our shop.",
    thanks: (name) => `Thank you, ${name}.`,
    packing: (day) => [
      "We have your order ",
      `${day === null ? "" : ` of ${day}`} and are packing it now. You get another mail as soon as it is on its way.`,
    ],
    view: "View your order",
    table: "What you ordered",
    columns: ["Item", "Qty", "Price"],
    discount: "Discount",
    delivery: "Delivery",
    free: "Free",
    total: "Total",
    deliveryTo: "Delivery to",
    mistake: "Something not right? Write to us before the parcel leaves, and we will put it in order.",
  },
  de: {
    frame: FRAME.de,
    subject: (number) => `Ihre Bestellung ${number} ist bestätigt`,
    preview: (name) => `Vielen Dank, ${name}. Wir packen Ihre Bestellung.`,
    reason: "Sie erhalten diese E-Mail, weil Sie bei uns bestellt haben.",
    thanks: (name) => `Vielen Dank, ${name}.`,
    packing: (day) => [
      "Ihre Bestellung ",
      `${day === null ? "" : ` vom ${day}`} ist bei uns eingegangen, und wir packen sie gerade. Sobald sie unterwegs ist, schreiben wir Ihnen noch einmal.`,
    ],
    view: "Bestellung ansehen",
    table: "Ihre Bestellung",
    columns: ["Artikel", "Anzahl", "Preis"],
    discount: "Rabatt",
    delivery: "Versand",
    free: "Kostenlos",
    total: "Gesamt",
    deliveryTo: "Lieferung an",
    mistake: "Stimmt etwas nicht? Schreiben Sie uns, bevor das Paket abgeht, dann bringen wir es in Ordnung.",
  },
  ar: {
    frame: FRAME.ar,
    subject: (number) => `تم تأكيد طلبك ${number}`,
    preview: (name) => `شكرًا لك، ${name}. نجهّز طلبك الآن.`,
    reason: "وصلتك هذه الرسالة لأنك طلبت من متجرنا.",
    thanks: (name) => `شكرًا لك، ${name}.`,
    packing: (day) => [
      "استلمنا طلبك ",
      `${day === null ? "" : ` بتاريخ ${day}`}، ونحن نجهّزه الآن. سنرسل إليك رسالة أخرى عند شحنه.`,
    ],
    view: "عرض الطلب",
    table: "محتويات طلبك",
    columns: ["المنتج", "الكمية", "السعر"],
    discount: "الخصم",
    delivery: "التوصيل",
    free: "مجاني",
    total: "المجموع",
    deliveryTo: "عنوان التوصيل",
    mistake: "هل هناك خطأ؟ اكتب إلينا قبل شحن الطرد وسنصلحه.",
  },
} as const satisfies Record<string, OrderWords>;
